#pragma once

#include <cstdint>
#include <vector>

#include "search/schedule/block_context.h"

namespace tessera::schedule {

/// The cost of a kernel for the worker with most work, in the division that leaves it least: equal parts of a
/// result, or the trips of a loop over a reduction, whose parts are combined behind a barrier.
/// @param whole its cost undivided, which stands where no division is legal
cost::Evaluation divided_cost(BlockContext& block, const lowering::NumberedNest& kernel,
                              const std::vector<int>& leaves, const std::vector<bool>& is_tile,
                              const cost::Evaluation& whole, int64_t& work);

}  // namespace tessera::schedule
