#pragma once

#include <string>
#include <vector>

#include "search/schedule/block_context.h"

namespace tessera::schedule {

/// Kernels of a block, in the order of execution, without tile sizes: a tile graph (paper 000, 3.2.1).
using Structure = std::vector<lowering::NumberedNest>;

/// The kernel of one operator, with every loop that may stand around it.
lowering::NumberedNest lone_nest(const BlockContext& block, int op);
/// One kernel for each operator that no stated kernel has, and these. Their roots are in the block's order.
Structure unfused(const BlockContext& block);

/// A step from one structure to another: a kernel moves into one that reads its results.
struct Merge {
    size_t kernel = 0;  ///< the producer's
    size_t into = 0;    ///< the consumer's
    int level = 0;      ///< number of braces around the place, less one
};

/// merge(src, dst, level) for each kernel with one that reads it, at every level around the first reader, and
/// one further inside. Those whose results are read by other kernels too are stored whole.
std::vector<Merge> merges(const BlockContext& block, const Structure& structure, const KernelLimits& limits);
inline std::vector<Merge> merges(const BlockContext& block, const Structure& structure) {
    return merges(block, structure, block.limits);
}
Structure applied(const BlockContext& block, const Structure& structure, const Merge& merge);

/// By operator: its results are read inside of its kernel alone.
std::vector<bool> tiles_of(const BlockContext& block, const lowering::NumberedNest& kernel);

/// As a tiling expression, open tiles as `?`; it tells kernels apart.
std::string text(const BlockContext& block, const lowering::NumberedNest& kernel);

}  // namespace tessera::schedule
