#include "lowering/numbered_nest.h"

#include <algorithm>

namespace tessera::lowering {

NumberedNest numbered(const BlockLinks& links, const plan::Nest& nest) {
    NumberedNest out;
    const auto& root = links.operators[static_cast<size_t>(links.find(plan::root(nest).node))];
    for (const plan::LoopTile& loop : nest.loops)
        out.loops.push_back({root.node->definition()->iterator(loop.iterator), loop.tile, loop.is_divided});
    for (const auto& child : nest.children) {
        if (const auto* inner = std::get_if<plan::Nest>(&child)) {
            out.items.emplace_back(numbered(links, *inner));
        } else {
            out.items.emplace_back(links.find(std::get<plan::Leaf>(child).node));
        }
    }
    return out;
}

plan::Nest named(const BlockLinks& links, const NumberedNest& nest,
                 const std::function<plan::Leaf(int op)>& leaf) {
    plan::Nest out;
    const Definition& root = *links.operators[static_cast<size_t>(nest.root())].node->definition();
    for (const NumberedNest::Loop& loop : nest.loops)
        out.loops.push_back(
            {root.iterators[static_cast<size_t>(loop.iterator)].name, loop.tile, loop.is_divided});
    for (const auto& item : nest.items) {
        if (const auto* inner = std::get_if<NumberedNest>(&item))
            out.children.emplace_back(named(links, *inner, leaf));
        else
            out.children.emplace_back(leaf(std::get<int>(item)));
    }
    return out;
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
