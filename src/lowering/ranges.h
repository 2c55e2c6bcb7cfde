#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lowering/refusal.h"
#include "lowering/storage.h"

/// The iterations of each operator of a kernel that one tile needs: the backward propagation of a tile
/// through the access maps (paper 000, 3.2.2, "Backward Extent"), symbolic in the loop variables.
namespace tessera::lowering {

using Ranges = std::vector<Range>;  ///< by iterator

/// All iterations of a node.
Ranges whole_ranges(const Node& node, const LoweringInput& input);

/// True if all values of an iterator are coordinates of the axis, whatever the symbols are. If they are not,
/// as at the end of a concatenation's first part, a producer computed in tiles of the iterator would make
/// elements that the axis does not have.
bool runs_inside(const movement::Index& iterator_extent, const movement::Index& axis_extent);

struct NeededRanges {
    std::map<const Node*, Ranges> of;
    std::optional<Refusal> refusal = {};  ///< of a node that cannot be computed by tiles
};

/// The iterations of each node (in the order of execution) that the later ones need, if the last one runs
/// over `root_ranges`. A node that is read in another shape cannot be computed by tiles.
NeededRanges needed_ranges(const std::vector<const Node*>& nodes, const Ranges& root_ranges,
                           Storage& storage);
/// The same, when lowering needs them. @throws Refused
std::map<const Node*, Ranges> required_ranges(const std::vector<const Node*>& nodes,
                                              const Ranges& root_ranges, Storage& storage);

/// The part of a result that iterations `ranges` of its node make. @pre its map is direct, one iterator an
/// axis.
std::vector<Range> region_of(const Node& node, ValueId result, const Ranges& ranges);

/// The conjuncts of a predicate; empty if there is none.
std::vector<ExprPtr> conjuncts(const ExprPtr& where);

/// The end of iterator `x` beyond which the predicate is false for every iteration of the ranges; nothing if
/// the predicate does not bound it. Handles conjuncts of the forms x < E, x <= E, E > x, E >= x with E free
/// of x.
std::vector<movement::Index> bounds_by_predicate(const Node& node, int x, const Ranges& ranges,
                                                 Storage& storage);

/// True if every reader of the node's results in the kernel executes only iterations for which the node's
/// predicate holds too, so that elements without it are never seen.
bool readers_imply_predicate(const Node& node, const std::vector<const Node*>& kernel,
                             const Storage& storage);

}  // namespace tessera::lowering
