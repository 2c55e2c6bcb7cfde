#include "search/schedule/nest_space.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <gtest/gtest.h>

#include "search/schedule/loop_orders.h"
#include "search/schedule/open_tiles.h"
#include "search/schedule/region_nests.h"
#include "search/schedule/search.h"
#include "search/schedule/searched.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using lowering::TiledKernel;
using testing::kRows;
using testing::Searched;

constexpr int64_t kAny = plan::kOpenTile;

/// Iterators of the second product: t, h, and the reduction n.
const std::string kTwoProducts = R"(graph "products"
symbol T in 1..400
point prompt weight 1: T = 400
input a: f32[T, 32]
input b: f32[32, 512]
input d: f32[512, 64]
value c: f32[T, 512]
value e: f32[T, 64]

block main
  node c(a, b) -> c
    op matmul(t: T, n: 512, k*: 32)
    dim T in 1..400
    in A f32[t, k]
    in B f32[k, n]
    out C f32[t, n] = sum(A * B)
  node e(c, d) -> e
    op matmul(t: T, h: 64, n*: 512)
    dim T in 1..400
    in C f32[t, n]
    in D f32[n, h]
    out E f32[t, h] = sum(C * D)
output e
)";

const NumberedNest kOpenProducts{{{0, kAny}, {1, kAny}, {2, kAny}}, {0, 1}};

TiledKernel tiled(const BlockContext& block, const NumberedNest& nest) {
    return lowering::tiled_kernel(block.links, nest, tiles_of(block, nest));
}

std::vector<std::vector<int64_t>> sizes_in(const BlockContext& block, NumberedNest nest) {
    std::vector<std::vector<int64_t>> sizes;
    for (const OpenTile& tile : open_tiles(block, nest, tiles_of(block, nest))) sizes.push_back(tile.sizes);
    return sizes;
}

bool is_power(int64_t size) {
    return std::has_single_bit(static_cast<uint64_t>(size));
}

TEST(NestSpace, HasThePaddedSizesThatRuleThreeAllows) {
    const NestSpace unpadded{.has_padded_sizes = false};
    for (const auto& [size, extent, is_in] :
         {std::tuple(96, 4096, false), std::tuple(64, 4096, true), std::tuple(4096, 4096, true),
          std::tuple(96, 400, false), std::tuple(12, 400, true), std::tuple(16, 400, true),
          std::tuple(96, 96, true)}) {
        EXPECT_EQ(has_size(unpadded, size, extent), is_in) << size << " of " << extent;
        EXPECT_TRUE(has_size({}, size, extent));
    }
}

TEST(NestSpace, WithoutOddTilesHasPowersOfTwoAndTheExtent) {
    Searched searched(kTwoProducts);
    BlockContext& block = searched.context();
    const auto all = sizes_in(block, kOpenProducts);
    ASSERT_TRUE(std::ranges::any_of(all[0], [](int64_t size) { return size != 400 && !is_power(size); }));
    block.space.has_odd_sizes = false;
    const auto some = sizes_in(block, kOpenProducts);
    for (size_t loop = 0; loop < all.size(); ++loop) {
        std::vector<int64_t> expected;
        std::ranges::copy_if(all[loop], std::back_inserter(expected),
                             [&](int64_t size) { return is_power(size) || size == all[loop].back(); });
        EXPECT_EQ(some[loop], expected);
    }
}

TEST(NestSpace, WithoutDeepExpressionsComputesNothingAgain) {
    Searched searched(kTwoProducts);
    BlockContext& block = searched.context();
    const auto all = sizes_in(block, kOpenProducts);
    EXPECT_GT(all[1].size(), 1U);
    EXPECT_TRUE(has_private_loop(tiled(block, {{{1, 16}}, {0, 1}}))) << "h, which the first product lacks";
    EXPECT_FALSE(has_private_loop(tiled(block, {{{0, 16}, {2, 64}}, {0, 1}})));
    block.space.has_private_loops = false;
    const auto flat = sizes_in(block, kOpenProducts);
    EXPECT_EQ(flat[0], all[0]);
    EXPECT_EQ(flat[1], std::vector<int64_t>{64});
    EXPECT_EQ(flat[2], all[2]);
    // An operator alone has no loop of another one.
    EXPECT_EQ(sizes_in(block, {{{1, kAny}}, {1}})[0], all[1]);
}

TEST(NestSpace, WithoutFlatExpressionsHasNoBracesInside) {
    const auto nests_of = [](BlockContext& block) {
        const OperatorOrder order(block);
        RegionNests nests(block, order);
        return nests({0, 1, 2, 3});
    };
    const auto is_flat = [](const NumberedNest& nest) {
        return std::ranges::any_of(
            nest.items, [](const auto& item) { return std::holds_alternative<NumberedNest>(item); });
    };
    Searched searched(kRows);
    BlockContext& block = searched.context();
    EXPECT_TRUE(std::ranges::any_of(nests_of(block), is_flat));
    block.space.has_inner_braces = false;
    const std::vector<NumberedNest> deep = nests_of(block);
    EXPECT_FALSE(deep.empty());
    EXPECT_TRUE(std::ranges::none_of(deep, is_flat));
}

TEST(NestSpace, WithoutReorderHasOneOrder) {
    Searched searched(kTwoProducts);
    BlockContext& block = searched.context();
    EXPECT_EQ(other_orders(block, kOpenProducts).size(), 1U);
    block.space.has_other_orders = false;
    EXPECT_TRUE(other_orders(block, kOpenProducts).empty());
}

TEST(NestSpace, WithoutOuterSumsHasThemInside) {
    Searched searched(kTwoProducts);
    BlockContext& block = searched.context();
    const TiledKernel inside = tiled(block, {{{0, 16}, {2, 64}}, {0, 1}});
    const TiledKernel outside = tiled(block, {{{2, 64}}, {NumberedNest{{{0, 16}}, {0, 1}}}});
    EXPECT_TRUE(is_in_space(block, inside));
    EXPECT_TRUE(is_in_space(block, outside));
    block.space.has_outer_sums = false;
    EXPECT_TRUE(is_in_space(block, inside));
    EXPECT_FALSE(is_in_space(block, outside));
}

TEST(NestSpace, WithoutLargeTilesKernelsFitTheSecondCache) {
    Searched searched(kTwoProducts);
    BlockContext& block = searched.context();
    const TiledKernel whole = tiled(block, {{}, {0, 1}});
    EXPECT_EQ(block.evaluator.tile_bytes(whole), 4 * (400 * 32 + 32 * 512 + 400 * 512 + 512 * 64 + 400 * 64));
    const TiledKernel small = tiled(block, {{{0, 16}, {2, 64}}, {0, 1}});
    EXPECT_EQ(block.evaluator.tile_bytes(small), 4 * (16 * 32 + 32 * 64 + 16 * 64 + 64 * 64 + 16 * 64));
    EXPECT_EQ(block.evaluator.near_capacity(), 1 << 20);
    EXPECT_TRUE(is_in_space(block, whole)) << "1.12 times the second cache";
    Searched wide(kRows);  // rows of 8192
    for (const bool has_large_tiles : {true, false}) {
        wide.context().space.has_large_tiles = has_large_tiles;
        EXPECT_EQ(is_in_space(wide.context(), tiled(wide.context(), {{}, {2, 3}})), has_large_tiles);
        EXPECT_TRUE(is_in_space(wide.context(), tiled(wide.context(), {{}, {3}}))) << "an operator alone";
        EXPECT_TRUE(is_in_space(wide.context(), tiled(wide.context(), {{{1, 1024}}, {2, 3}})));
    }
}

TEST(NestSpace, ChoicesStayInIt) {
    const auto found_in = [](const NestSpace& space, const auto& check) {
        Searched searched(kTwoProducts);
        searched.context().space = space;
        const Schedule found = search(searched.context(), {});
        for (const SolvedKernel& kernel : found.kernels) check(searched.context(), kernel.nest);
        return found.seconds;
    };
    const double all = found_in({}, [](const auto&...) {});
    const auto check_sizes = [](const BlockContext& block, const NumberedNest& nest) {
        for (const NumberedNest::Loop& loop : nest.loops)
            EXPECT_TRUE(is_power(loop.tile)) << text(block, nest);
    };
    EXPECT_GE(found_in({.has_odd_sizes = false}, check_sizes), all * 0.99);
    const auto check_loops = [](const BlockContext& block, const NumberedNest& nest) {
        EXPECT_FALSE(has_private_loop(tiled(block, nest))) << text(block, nest);
    };
    EXPECT_GE(found_in({.has_private_loops = false}, check_loops), all * 0.99);
}

TEST(NestSpace, RegionsOfOneWithoutGrowthLeaveOperatorsAlone) {
    const auto found = [](const SearchOptions& options) {
        Searched searched(kRows);
        return search(searched.context(), options);
    };
    const Schedule alone = found({.region = 1, .grows = false});
    EXPECT_EQ(alone.kernels.size(), 4U);
    EXPECT_EQ(alone.regions, 0);
    EXPECT_EQ(alone.nests, 0);
    EXPECT_EQ(alone.seconds, alone.unfused_seconds);
    const Schedule grown = found({.region = 1});
    EXPECT_EQ(grown.regions, 0);
    EXPECT_GT(grown.grown, 0);
    EXPECT_LT(grown.seconds, alone.seconds);
    EXPECT_EQ(found({.grows = false}).grown, 0);
}

}  // namespace
}  // namespace tessera::schedule
