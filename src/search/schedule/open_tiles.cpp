#include "search/schedule/open_tiles.h"

#include <algorithm>
#include <set>

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using lowering::TiledKernel;

std::vector<int64_t> sizes_of(int64_t extent, bool is_constant) {
    std::vector<int64_t> sizes;
    int64_t next = 1;
    for (int64_t size = 1; size < extent; ++size) {
        if (size < next) size = next;
        if (size >= extent) break;
        if (is_constant && extent % size != 0) continue;
        sizes.push_back(size);
        next = 2 * size;
    }
    sizes.push_back(extent);
    return sizes;
}

void add_multiples(const std::set<int64_t>& blocks, std::vector<int64_t>& sizes) {
    std::set<int64_t> all(sizes.begin(), sizes.end());
    for (const int64_t block : blocks)
        for (int64_t size = block; size < sizes.back(); size *= 2) all.insert(size);
    sizes.assign(all.begin(), all.end());
}

class OpenTiles {
public:
    OpenTiles(const BlockContext& block, NumberedNest& nest, const std::vector<bool>& is_tile)
        : block_(block), nest_(nest), is_tile_(is_tile) {
        collect(nest_);
    }

    std::vector<OpenTile> take() {
        for (const OpenTile& tile : tiles_) tile.loop->tile = tile.sizes.back();
        for (size_t i = 0; i < tiles_.size(); ++i) choose_sizes(tiles_[i], places_[i]);
        for (const OpenTile& tile : tiles_) tile.loop->tile = plan::kOpenTile;
        return std::move(tiles_);
    }

private:
    void collect(NumberedNest& nest) {
        const auto root = static_cast<size_t>(nest.root());
        for (NumberedNest::Loop& loop : nest.loops) {
            const size_t place = loops_++;
            if (loop.tile != plan::kOpenTile) continue;
            const auto x = static_cast<size_t>(loop.iterator);
            const int64_t extent = block_.links.operators[root].largest[x];
            tiles_.push_back({&loop, sizes_of(extent, block_.is_constant[root][x])});
            places_.push_back(place);
        }
        for (auto& item : nest.items)
            if (auto* inner = std::get_if<NumberedNest>(&item)) collect(*inner);
    }

    /// A loop that is illegal if all others have one trip stays so beside any others, whatever its tile: more
    /// loops only make the ranges of an operator smaller.
    void choose_sizes(OpenTile& tile, size_t place) const {
        const int64_t whole = tile.sizes.back();
        tile.loop->tile = tile.sizes.front();
        const TiledKernel kernel = lowering::tiled_kernel(block_.links, nest_, is_tile_);
        tile.loop->tile = whole;
        const bool is_open =
            kernel.is_legal() && (block_.space.has_private_loops || !has_private_loop(kernel));
        if (!is_open) {
            tile.sizes = {whole};
            return;
        }
        add_multiples(rows_of_blocks(kernel, place), tile.sizes);
        std::erase_if(tile.sizes, [&](int64_t size) { return !has_size(block_.space, size, whole); });
    }

    /// Rows of register blocks of the products whose rows the loop cuts.
    /// @param place of the loop in the nest, in the order of its text
    std::set<int64_t> rows_of_blocks(const TiledKernel& kernel, size_t place) const {
        std::set<int64_t> rows;
        const auto of_loop = kernel.is_kept.begin() + static_cast<ptrdiff_t>(place);
        if (!*of_loop) return rows;
        const auto loop = static_cast<int>(std::count(kernel.is_kept.begin(), of_loop, true));
        for (const lowering::TiledOperator& tiled : kernel.operators)
            for (const int leaf : block_.leaves[static_cast<size_t>(tiled.op)]) {
                const auto block = block_.evaluator.row_block(leaf);
                if (block && lowering::changes(kernel, loop, tiled, block->iterator))
                    rows.insert(block->rows);
            }
        return rows;
    }

    const BlockContext& block_;
    NumberedNest& nest_;
    const std::vector<bool>& is_tile_;
    std::vector<OpenTile> tiles_;
    std::vector<size_t> places_;  ///< of their loops in the nest
    size_t loops_ = 0;
};

}  // namespace

std::vector<OpenTile> open_tiles(const BlockContext& block, NumberedNest& nest,
                                 const std::vector<bool>& is_tile) {
    return OpenTiles(block, nest, is_tile).take();
}

std::vector<OpenTile> whole_tiles(const BlockContext& block, NumberedNest& nest,
                                  const std::vector<bool>& is_tile) {
    std::vector<OpenTile> tiles = open_tiles(block, nest, is_tile);
    for (const OpenTile& tile : tiles) tile.loop->tile = tile.sizes.back();
    std::erase_if(tiles, [](const OpenTile& tile) { return tile.sizes.size() == 1; });
    return tiles;
}

}  // namespace tessera::schedule
