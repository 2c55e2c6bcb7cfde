#pragma once

#include <cstdint>
#include <optional>

#include "lowering/storage.h"
#include "planner/default_planner.h"

namespace tessera::planner {

/// Of one kernel by one worker, what depends on its loops and leaves.
struct NestCost {
    double seconds = 0;      ///< sum over the points within the specialisation's bounds, by their weights
    int64_t tile_bytes = 0;  ///< that the operators touch inside all loops, at most
};

/// Operators inside loops cost what the calls of their parts cost (cost/cost_model.h), with all that they
/// touch in near caches, but for what products stream: that comes from where constants and states are.
/// Nothing where the machine has no rate for one of them.
/// @pre options.costs, the kernel lowers
std::optional<NestCost> nest_cost(const lowering::LoweringInput& input, const Block& block,
                                  const plan::Nest& nest, const PlannerOptions& options);

}  // namespace tessera::planner
