#pragma once

#include "cost/priced_block.h"
#include "planner/default_planner.h"

namespace tessera::planner {

/// A search needs costs: the roofs of a usual machine where there are none.
PlannerOptions priced(const PlannerOptions& options);

/// The innermost level that holds all constants, in which constants and states are found.
/// @pre options.costs
size_t level_of_constants(const PlannerOptions& options);

/// At the points at which the specialisation runs. @pre options.costs; `input` outlives it
cost::PricedBlock priced_block(const lowering::LoweringInput& input, const Block& block,
                               const PlannerOptions& options);

}  // namespace tessera::planner
