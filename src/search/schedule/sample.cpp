#include "search/schedule/sample.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "search/schedule/divided_cost.h"
#include "search/schedule/open_tiles.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using lowering::TiledKernel;

/// Draws that are illegal or known, for each that is wanted.
constexpr size_t kDraws = 50;

class Sampler {
public:
    Sampler(BlockContext& block, uint64_t seed) : block_(block), random_(seed) {}

    std::optional<Alternative> operator()() {
        Alternative drawn;
        for (const NumberedNest& kernel : structure()) {
            std::optional<SolvedKernel> solved = with_tiles(kernel);
            if (!solved) return std::nullopt;
            drawn.seconds += solved->seconds;
            drawn.kernels.push_back(std::move(*solved));
        }
        return drawn;
    }

private:
    size_t below(size_t end) { return static_cast<size_t>(random_() % end); }

    Structure structure() {
        Structure drawn = unfused(block_);
        for (size_t left = below(2 * drawn.size()); left > 0; --left) {
            const std::vector<Merge> all = merges(block_, drawn);
            if (all.empty()) break;
            drawn = applied(block_, drawn, all[below(all.size())]);
        }
        return drawn;
    }

    void draw_sizes(NumberedNest& nest, const std::vector<bool>& is_tile) {
        // Half of the loops have one trip: else most nests would have many short ones.
        for (const auto& [loop, sizes] : open_tiles(block_, nest, is_tile))
            loop->tile = below(2) == 0 ? sizes.back() : sizes[below(sizes.size())];
    }

    /// One of the leaves that can compute the operator in its part of the kernel; -1 if there is none.
    int draw_leaf(const TiledKernel& tiled, size_t at) {
        const cost::Evaluator::Part part = block_.evaluator.part(tiled, at);
        const bool is_folded = is_folded_in_parts(block_.links, tiled, at);
        std::vector<int> fit;
        for (const int leaf : block_.leaves[static_cast<size_t>(tiled.operators[at].op)]) {
            if (is_folded && !block_.evaluator.leaf(leaf).kernel->tiles_reductions) continue;
            if (std::isfinite(block_.evaluator.compute(part, leaf))) fit.push_back(leaf);
        }
        return fit.empty() ? -1 : fit[below(fit.size())];
    }

    std::optional<SolvedKernel> with_tiles(NumberedNest kernel) {
        const std::vector<bool> is_tile = tiles_of(block_, kernel);
        draw_sizes(kernel, is_tile);
        const TiledKernel tiled = lowering::tiled_kernel(block_.links, kernel, is_tile);
        if (!tiled.is_legal()) return std::nullopt;
        SolvedKernel solved{.nest = lowering::without_lone_loops(kernel, tiled.is_kept)};
        double in_loops = 0;
        for (size_t at = 0; at < tiled.operators.size(); ++at) {
            const int leaf = draw_leaf(tiled, at);
            if (leaf < 0) return std::nullopt;
            solved.leaves.push_back(leaf);
            if (is_product_in_loops(block_, tiled, at, leaf))
                in_loops += block_.evaluator.compute(block_.evaluator.part(tiled, at), leaf);
        }
        if (block_.why_not_lowered && block_.why_not_lowered(solved.nest, solved.leaves, is_tile))
            return std::nullopt;
        solved.cost = block_.evaluator(tiled, solved.leaves, is_tile);
        int64_t work = 0;
        if (block_.evaluator.workers() > 1)
            solved.cost = divided_cost(block_, solved.nest, solved.leaves, is_tile, solved.cost, work);
        solved.seconds = with_mistrust(solved.cost, in_loops, block_.evaluator.workers());
        return solved;
    }

    BlockContext& block_;
    std::mt19937_64 random_;
};

}  // namespace

std::vector<Alternative> samples(BlockContext& block, size_t count, uint64_t seed) {
    std::vector<Alternative> drawn;
    if (block.links.operators.empty()) return drawn;
    Sampler draw(block, seed);
    std::set<std::string> known;
    for (size_t draws = 0; drawn.size() < count && draws < kDraws * count; ++draws) {
        std::optional<Alternative> one = draw();
        if (one && known.insert(key_of(block, *one)).second) drawn.push_back(std::move(*one));
    }
    return drawn;
}

}  // namespace tessera::schedule
