#include "search/schedule/least_of_tiles.h"

#include <numeric>

#include <gtest/gtest.h>

#include "search/schedule/divided_cost.h"
#include "search/schedule/random_block.h"
#include "search/schedule/region_nests.h"
#include "search/schedule/searched.h"
#include "search/schedule/solve_tiles.h"
#include "search/tiles/evaluate.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using testing::RandomBlock;
using testing::Searched;

/// Seconds below which each operator takes in no kernel.
std::vector<double> least_of_operators(BlockContext& block) {
    std::vector<bool> is_free;
    for (const bool is_whole : block.is_whole) is_free.push_back(!is_whole);
    std::vector<double> seconds;
    for (const cost::Evaluator::Least& least : block.evaluator.least(block.leaves, is_free))
        seconds.push_back(least.seconds);
    return seconds;
}

/// The nests of a block's first operators, up to three of them.
std::vector<NumberedNest> nests_of(const BlockContext& block) {
    const OperatorOrder order(block);
    RegionNests nests(block, order);
    std::vector<NumberedNest> found;
    for (const Region& region : regions(block, order, 3, 1000))
        for (const NumberedNest& nest : nests(region)) found.push_back(nest);
    for (int op = 0; op < static_cast<int>(block.links.operators.size()); ++op)
        found.push_back(lone_nest(block, op));
    return found;
}

/// Seconds of a choice of tiles by the leaves that compute fastest; infinite if it is illegal.
double price(BlockContext& block, NumberedNest nest, const std::vector<int64_t>& sizes) {
    const std::vector<bool> is_tile = tiles_of(block, nest);
    size_t at = 0;
    for (const OpenTile& tile : whole_tiles(block, nest, is_tile)) tile.loop->tile = sizes[at++];
    const lowering::TiledKernel tiled = lowering::tiled_kernel(block.links, nest, is_tile);
    if (!tiled.is_legal()) return std::numeric_limits<double>::infinity();
    std::vector<int> leaves;
    const auto parts = block.evaluator.parts(tiled);
    for (size_t i = 0; i < parts.size(); ++i)
        leaves.push_back(cheapest_leaf(block, tiled, i, parts[i], is_tile).leaf);
    if (std::ranges::find(leaves, -1) != leaves.end()) return std::numeric_limits<double>::infinity();
    const cost::Evaluation whole = block.evaluator(tiled, leaves, is_tile);
    int64_t work = 0;
    return block.evaluator.workers() > 1
               ? divided_cost(block, lowering::without_lone_loops(nest, tiled.is_kept), leaves, is_tile,
                              whole, work)
                     .seconds
               : whole.seconds;
}

TEST(LeastOfTiles, NoChoiceTakesLess) {
    std::mt19937_64 random(1);
    int compared = 0;
    double tightest = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        Searched searched(RandomBlock(seed).run(), 1 + static_cast<int64_t>(seed % 3));
        BlockContext& block = searched.context();
        const std::vector<double> least = least_of_operators(block);
        for (const NumberedNest& nest : nests_of(block)) {
            const auto problem = least_of_tiles(block, nest, tiles_of(block, nest), least);
            if (!problem) continue;
            for (int i = 0; i < 10; ++i) {
                tiles::Assignment sizes;
                for (const tiles::Variable& variable : problem->variables)
                    sizes.push_back(variable.domain[random() % variable.domain.size()]);
                const tiles::Evaluation bound = tiles::evaluate(*problem, sizes);
                if (!bound.is_feasible()) continue;
                const double seconds = price(block, nest, sizes);
                EXPECT_LE(bound.cost, seconds * (1 + 1e-9)) << text(block, nest) << " of seed " << seed;
                if (!std::isfinite(seconds)) continue;
                tightest = std::max(tightest, bound.cost / seconds);
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 2000);
    EXPECT_GT(tightest, 0.95);
}

TEST(SolveTiles, AProofFindsWhatAllChoicesHold) {
    constexpr int64_t kAll = 20'000;
    int proved = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        Searched searched(RandomBlock(seed).run());
        BlockContext& block = searched.context();
        const std::vector<double> least = least_of_operators(block);
        for (const NumberedNest& nest : nests_of(block)) {
            NumberedNest copy = nest;
            double choices = 1;
            for (const OpenTile& tile : open_tiles(block, copy, tiles_of(block, nest)))
                choices *= static_cast<double>(tile.sizes.size());
            if (choices <= 200 || choices > kAll) continue;
            int64_t work = 0;
            const auto all = solve_tiles(block, nest, {.evaluations = kAll}, work);
            const auto found = solve_tiles(block, nest, {.nodes = kAll, .least = least}, work);
            ASSERT_TRUE(all && found);
            EXPECT_LE(found->bound, all->seconds * (1 + 1e-9)) << text(block, nest);
            if (!is_proved(*found)) continue;
            EXPECT_LE(found->seconds, 1.0405 * all->seconds) << text(block, nest);
            ++proved;
        }
    }
    EXPECT_GT(proved, 20);
}

}  // namespace
}  // namespace tessera::schedule
