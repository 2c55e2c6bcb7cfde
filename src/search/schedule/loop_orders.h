#pragma once

#include <vector>

#include "search/schedule/block_context.h"

namespace tessera::schedule {

/// The orders of a kernel's outer loops with each other open one over results outermost; none if the block's
/// space has none.
std::vector<lowering::NumberedNest> other_orders(const BlockContext& block,
                                                 const lowering::NumberedNest& kernel);

}  // namespace tessera::schedule
