#pragma once

#include <cstdint>
#include <vector>

#include "lowering/storage.h"

namespace tessera::cost {

/// One operator of a kernel as its loops call it.
struct LeafTile {
    const plan::Leaf* leaf;
    const Node* node;
    std::vector<int64_t> extents;   ///< of the iterators in one call, at most
    std::vector<int> divided = {};  ///< iterators that run over the parts of the workers
};

/// How often it is called until its iterators have run over these extents.
double calls_of(const LeafTile& tile, const std::vector<int64_t>& extents);

struct KernelTiles {
    std::vector<LeafTile> leaves;  ///< in the order of execution
    double share = 1;              ///< the share of divided work of the worker with most
};

/// The parts of a kernel's operators that lie inside all of its loops (lowering/ranges.h).
/// @pre the symbols' bounds in `input` are single values, and the kernel lowers
KernelTiles leaf_tiles(const lowering::LoweringInput& input, const Block& block,
                       const plan::KernelPlan& kernel);

}  // namespace tessera::cost
