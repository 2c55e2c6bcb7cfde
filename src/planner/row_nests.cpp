#include "planner/row_nests.h"

#include <algorithm>

#include "kernels/micro_kernels.h"
#include "planner/leaf_choice.h"

namespace tessera::planner {
namespace {

/// So many rows share the wait that it is small beside the time of each.
constexpr int64_t kMostRows = 32;

/// Tiles of several of these rows, ascending: powers of two, and all of a constant number.
std::vector<int64_t> tiles_of(const Definition& root, int x, int64_t most,
                              const plan::SpecialisationPlan& specialisation) {
    const int64_t extent = kernels::largest_extent(root, x, specialisation);
    const bool is_constant =
        std::holds_alternative<Number>(root.iterators[static_cast<size_t>(x)].extent->node);
    std::vector<int64_t> tiles;
    for (int64_t tile = 2; tile <= std::min(most, extent); tile *= 2)
        if (!is_constant || extent % tile == 0) tiles.push_back(tile);
    const bool has_whole = extent == 1 || (!tiles.empty() && tiles.back() == extent);
    if (is_constant && extent <= most && !has_whole) tiles.push_back(extent);
    return tiles;
}

std::vector<plan::LoopTile> row_loops(const Definition& root, const std::vector<int>& shared) {
    std::vector<plan::LoopTile> loops;
    for (const int x : shared) loops.push_back({root.iterators[static_cast<size_t>(x)].name, 1});
    return loops;
}

/// Loops in tiles of ever more neighbouring rows: a loop has larger tiles where those inside are whole.
std::vector<std::vector<plan::LoopTile>> row_tiles(const Definition& root, const std::vector<int>& shared,
                                                   const plan::SpecialisationPlan& specialisation) {
    std::vector<plan::LoopTile> loops = row_loops(root, shared);
    std::vector<std::vector<plan::LoopTile>> tiles = {loops};
    int64_t inside = 1;  // rows of the loops inside
    for (size_t at = shared.size(); at-- > 0;) {
        int64_t& tile = loops[at].tile;
        for (const int64_t rows : tiles_of(root, shared[at], kMostRows / inside, specialisation)) {
            tile = rows;
            tiles.push_back(loops);
        }
        if (tile < kernels::largest_extent(root, shared[at], specialisation)) break;
        inside *= tile;
    }
    return tiles;
}

}  // namespace

std::vector<plan::Nest> row_nests(const std::vector<const Node*>& chain, const std::vector<int>& shared,
                                  const plan::SpecialisationPlan& specialisation) {
    const Definition& root = *chain.back()->definition();
    const auto last_fold = std::find_if(chain.rbegin(), chain.rend(), [](const Node* node) {
        return node->definition()->monoid != Monoid::kNone;
    });
    const auto behind = static_cast<size_t>(last_fold - chain.rbegin());
    const bool has_rest = last_fold != chain.rend() && behind > 1;
    std::vector<plan::Nest> nests;
    for (std::vector<plan::LoopTile>& loops : row_tiles(root, shared, specialisation)) {
        plan::Nest flat{std::move(loops), {}}, rest{{}, {}};
        for (const plan::LoopTile& loop : flat.loops)
            if (loop.tile > 1) rest.loops.push_back({loop.iterator, 1});
        plan::Nest nested{flat.loops, {}};
        for (const Node* node : chain) {
            const plan::Leaf leaf(node->name, kernels::plain_micro_kernel());
            flat.children.emplace_back(leaf);
            (nested.children.size() + behind < chain.size() ? nested : rest).children.emplace_back(leaf);
        }
        nests.push_back(std::move(flat));
        if (!has_rest || rest.loops.empty()) continue;
        nested.children.emplace_back(std::move(rest));
        nests.push_back(std::move(nested));
    }
    return nests;
}

}  // namespace tessera::planner
