#include "cost/leaf_tiles.h"

#include <algorithm>

#include <fmt/core.h>

#include "lowering/ranges.h"

namespace tessera::cost {
namespace {

class Tiles {
public:
    Tiles(const lowering::LoweringInput& input, const Block& block) : storage_(input, block) {}

    KernelTiles of(const plan::KernelPlan& kernel) {
        walk(kernel.nest, lowering::whole_ranges(node(plan::root(kernel.nest)), storage_.input()));
        return std::move(found_);
    }

private:
    const Node& node(const plan::Leaf& leaf) const { return storage_.block().node(leaf.node); }

    void walk(const plan::Nest& nest, lowering::Ranges ranges) {
        std::vector<const Node*> nodes;
        for (const plan::Leaf* leaf : plan::leaves(nest)) nodes.push_back(&node(*leaf));
        const Definition& definition = *nodes.back()->definition();
        for (const plan::LoopTile& loop : nest.loops) {
            lowering::Range& range = ranges[static_cast<size_t>(definition.iterator(loop.iterator))];
            const int64_t extent = std::max<int64_t>(range.largest, 1), tile = std::min(loop.tile, extent);
            const int64_t workers = storage_.input().plan.workers;
            if (loop.is_divided) {
                const int64_t trips = (extent + tile - 1) / tile, most = (trips + workers - 1) / workers;
                found_.share =
                    static_cast<double>(std::min(most * tile, extent)) / static_cast<double>(extent);
            }
            const std::string name = loop.is_divided ? kDivided : fmt::format("loop {}", loops_++);
            const movement::Index start =
                movement::Index::variable({name, {0, std::max<int64_t>(extent - 1, 1)}}) + range.begin;
            range = {start, start + movement::Index(tile), tile};
        }
        const std::map<const Node*, lowering::Ranges> needed =
            lowering::required_ranges(nodes, ranges, storage_);
        for (const auto& child : nest.children) {
            if (const auto* inner = std::get_if<plan::Nest>(&child)) {
                walk(*inner, needed.at(&node(plan::root(*inner))));
            } else {
                const plan::Leaf& leaf = std::get<plan::Leaf>(child);
                LeafTile tile{&leaf, &node(leaf), {}};
                const lowering::Ranges& parts = needed.at(tile.node);
                for (size_t x = 0; x < parts.size(); ++x) {
                    tile.extents.push_back(std::max<int64_t>(parts[x].largest, 1));
                    if (parts[x].begin.uses(kDivided)) tile.divided.push_back(static_cast<int>(x));
                }
                found_.leaves.push_back(std::move(tile));
            }
        }
    }

    static constexpr const char* kDivided = "divided";
    lowering::Storage storage_;
    KernelTiles found_;
    int loops_ = 0;
};

}  // namespace

double calls_of(const LeafTile& tile, const std::vector<int64_t>& extents) {
    double calls = 1;
    for (size_t x = 0; x < extents.size(); ++x)
        calls *= static_cast<double>(extents[x]) / static_cast<double>(tile.extents[x]);
    return calls;
}

KernelTiles leaf_tiles(const lowering::LoweringInput& input, const Block& block,
                       const plan::KernelPlan& kernel) {
    return Tiles(input, block).of(kernel);
}

}  // namespace tessera::cost
