#pragma once

#include <cstdint>
#include <optional>

#include "lowering/storage.h"
#include "planner/default_planner.h"

namespace tessera::planner {

/// The part of one kernel's cost on one worker that depends on its loops and leaves.
struct NestCost {
    double seconds = 0;      ///< sum over the points within the specialisation's bounds, by their weights
    int64_t tile_bytes = 0;  ///< that the operators touch inside all loops, at most
};

/// The cost of operators inside loops is that of the calls of their parts (cost/cost_model.h), with all their
/// data in near caches, except the streamed operands of products: these come from the level of constants and
/// states. Nothing where the machine has no rate for one of them.
/// @pre options.costs, the kernel lowers
std::optional<NestCost> nest_cost(const lowering::LoweringInput& input, const Block& block,
                                  const plan::Nest& nest, const PlannerOptions& options);

}  // namespace tessera::planner
