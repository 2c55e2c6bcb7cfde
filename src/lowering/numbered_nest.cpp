#include "lowering/numbered_nest.h"

#include <algorithm>

namespace tessera::lowering {

NumberedNest numbered(const BlockLinks& links, const plan::Nest& nest) {
    return nest::translated<NumberedNest>(
        nest,
        [&](const plan::Nest& around, const plan::LoopTile& loop) {
            const int root = links.find(around.root().node);
            return links.operators[static_cast<size_t>(root)].node->definition()->iterator(loop.iterator);
        },
        [&](const plan::Leaf& leaf) { return links.find(leaf.node); });
}

const std::string& iterator_name(const BlockLinks& links, const NumberedNest& nest,
                                 const NumberedNest::Loop& loop) {
    const Node& root = *links.operators[static_cast<size_t>(nest.root())].node;
    return root.definition()->iterators[static_cast<size_t>(loop.iterator)].name;
}

plan::Nest named(const BlockLinks& links, const NumberedNest& nest,
                 const std::function<plan::Leaf(int op)>& leaf) {
    return nest::translated<plan::Nest>(
        nest,
        [&](const NumberedNest& around, const NumberedNest::Loop& loop) {
            return iterator_name(links, around, loop);
        },
        leaf);
}

std::vector<bool> tiles_of(const BlockLinks& links, const LoweringInput& input) {
    std::vector<bool> is_tile;
    for (const BlockLinks::Operator& op : links.operators)
        is_tile.push_back(std::ranges::all_of(op.node->results, [&](ValueId result) {
            const auto at = input.specialisation.tensors.find(input.graph[result].name);
            return at != input.specialisation.tensors.end() && at->second.place == plan::Place::kTile;
        }));
    return is_tile;
}

}  // namespace tessera::lowering
