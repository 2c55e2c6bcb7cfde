#pragma once

#include "cost/priced_block.h"
#include "search/planner/default_planner.h"

namespace tessera::planner {

/// The innermost level that holds all constants, in which constants and states are found.
size_t level_of_constants(const PlannerOptions& options);

/// At the points at which the specialisation runs. @pre `input` and the options outlive it
cost::PricedBlock priced_block(const lowering::LoweringInput& input, const Block& block,
                               const PlannerOptions& options);

}  // namespace tessera::planner
