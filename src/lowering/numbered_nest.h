#pragma once

#include <functional>
#include <vector>

#include "lowering/plan/nest.h"
#include "lowering/tiled_kernel.h"

namespace tessera::lowering {

/// A nest of a plan by numbers. @pre its operators are the block's, and its loops name iterators of the roots
NumberedNest numbered(const BlockLinks& links, const plan::Nest& nest);

/// The name of the iterator that a loop of the nest runs over.
const std::string& iterator_name(const BlockLinks& links, const NumberedNest& nest,
                                 const NumberedNest::Loop& loop);

/// The other way round. @param leaf of each operator, asked for in the order of execution
plan::Nest named(const BlockLinks& links, const NumberedNest& nest,
                 const std::function<plan::Leaf(int op)>& leaf);

/// By operator of the block: the plan keeps its results in tiles.
std::vector<bool> tiles_of(const BlockLinks& links, const LoweringInput& input);

}  // namespace tessera::lowering
