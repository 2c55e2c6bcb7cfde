#include "search/schedule/open_tiles.h"

#include <set>

#include <gtest/gtest.h>

#include "search/schedule/searched.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using testing::Searched;

constexpr const char* kProducts = R"(graph "products"
symbol T in 1..100
point prompt weight 1: T = 100
input a: f32[T, 32]
input b: f32[32, 90]
input d: f32[90, 64]
value c: f32[T, 90]
value e: f32[T, 64]

block main
  node c(a, b) -> c
    op matmul(t: T, n: 90, k*: 32)
    dim T in 1..100
    in A f32[t, k]
    in B f32[k, n]
    out C f32[t, n] = sum(A * B)
  node e(c, d) -> e
    op matmul(t: T, h: 64, n*: 90)
    dim T in 1..100
    in C f32[t, n]
    in D f32[n, h]
    out E f32[t, h] = sum(C * D)
output e
)";

constexpr int64_t kOpen = plan::kOpenTile;

TEST(OpenTiles, RowsOfProductsHaveSizesOfRegisterBlocks) {
    Searched searched(kProducts);
    BlockContext& block = searched.context();
    std::set<int64_t> expected = {1, 2, 4, 8, 16, 32, 64, 100};
    for (const int leaf : block.leaves[1])
        if (const auto rows = block.evaluator.row_block(leaf); rows && rows->iterator == 0)
            for (int64_t size = rows->rows; size < 100; size *= 2) expected.insert(size);
    ASSERT_TRUE(expected.contains(96)) << "no register block has a number of rows that is no power of two";

    // The rows of the first product are those of the second one, which has the loop.
    NumberedNest nest{{{.iterator = 0, .tile = kOpen}}, {0, 1}};
    const std::vector<OpenTile> tiles = open_tiles(block, nest, tiles_of(block, nest));
    ASSERT_EQ(tiles.size(), 1U);
    EXPECT_EQ(tiles[0].sizes, std::vector<int64_t>(expected.begin(), expected.end()));
    EXPECT_EQ(nest.loops[0].tile, kOpen);
}

TEST(OpenTiles, OtherLoopsHavePowersOfTwoOrDivisors) {
    Searched searched(testing::kRows);
    BlockContext& block = searched.context();
    NumberedNest nest{{{.iterator = 0, .tile = 4}, {.iterator = 1, .tile = kOpen}}, {1}};
    const std::vector<OpenTile> tiles = open_tiles(block, nest, tiles_of(block, nest));
    ASSERT_EQ(tiles.size(), 1U);
    EXPECT_EQ(tiles[0].loop, &nest.loops[1]);
    EXPECT_EQ(tiles[0].sizes,
              (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}));
}

}  // namespace
}  // namespace tessera::schedule
