#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowering/block_links.h"
#include "lowering/nest_rules.h"
#include "nest/nest.h"

namespace tessera::lowering {

/// A nest by numbers: operators by their position in BlockLinks, iterators by their position in the root's
/// definition.
using NumberedNest = nest::Nest<int, int>;

/// The values of an iterator in one tile: all of them, or those of the innermost loop over it.
struct PartRange {
    int loop = -1;        ///< in TiledKernel::loops; -1: all
    int64_t largest = 1;  ///< number of values, at most
    int extent = -1;      ///< number of the extent that all trips together cover; -1: perhaps less
    bool operator==(const PartRange&) const = default;
};

struct TiledLoop {
    int op = 0, iterator = 0;  ///< of the root
    int64_t tile = 1;
    int outer = -1;  ///< the loop around it over the same iterator
    bool is_divided = false;
    bool is_stopped = false;  ///< a predicate ends it early
};

struct TiledOperator {
    int op = 0;
    std::vector<PartRange> ranges;  ///< by iterator
    std::vector<int> loops;         ///< around it, outermost first
};

/// The parts of operators that a nest computes in one tile. Loops of one trip are left out.
struct TiledKernel {
    std::vector<TiledLoop> loops;
    std::vector<TiledOperator> operators;  ///< in the order of execution
    std::vector<bool> is_kept;  ///< by loop of the nest, in the order of its text: it has several trips
    std::optional<BrokenRule> broken = {};  ///< the first rule that the nest breaks

    bool is_legal() const { return !broken; }
};

/// The nest without loops of one trip, and without braces that have no loop. @param is_kept of the same nest
NumberedNest without_lone_loops(const NumberedNest& nest, const std::vector<bool>& is_kept);

/// Legality as a value: follows the tile backwards through the links (paper 000, 3.2.2, "Backward Extent"),
/// and checks lowering's rules, except for micro-kernels that find no strides. No result replaces an operand:
/// at this point a search does not know which may.
/// @param is_tile by operator: its results exist in tiles only
TiledKernel tiled_kernel(const BlockLinks& links, const NumberedNest& nest, const std::vector<bool>& is_tile);

/// True if an operator's iterator has other values in other trips of a loop.
inline bool changes(const TiledKernel& kernel, int loop, const TiledOperator& op, int iterator) {
    int at = op.ranges[static_cast<size_t>(iterator)].loop;
    while (at >= 0 && at != loop) at = kernel.loops[static_cast<size_t>(at)].outer;
    return at >= 0;
}

/// The reason why the nest is illegal; nothing if it is legal.
std::optional<Refusal> why_illegal(const BlockLinks& links, const NumberedNest& nest,
                                   const std::vector<bool>& is_tile);

}  // namespace tessera::lowering
