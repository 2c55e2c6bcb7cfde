// Plans with products of bytes on a matrix unit that its micro-kernel does not implement.

#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "lowering/kernels/one_operator.h"
#include "lowering/plan/nest.h"
#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::kernels {
namespace {

using ::testing::HasSubstr;

/// Why this leaf is refused, of a weight with a scale for `block` of 256 neighbours; empty if it is not.
std::string refused(const std::string& parameters, int64_t block = 32) {
    const Graph graph = parse_graph(fmt::format(R"(graph "blocks"
symbol T in 1..64
input x: i8[T, 256]
input low: i8[T, 256]
input scales: f32[T, 1]
constant q: i8[40, 256] from "q"
constant d: f16[40, {0}] from "d"
value y: f32[T, 40]

block main
  node y(x, low, scales, q, d) -> y
    op product(t: T, n: 40, k*: 256)
    dim T in 1..64
    in X i8[t, k]
    in L i8[t, k]
    in S f32[t, k div 256]
    in Q i8[n, k]
    in D f16[n, k div {1}]
    out Y f32[t, n] = sum((X * 32 + L) * S * (Q * D))

output y
)",
                                                256 / block, block),
                                    "blocks");
    const std::string nest = "y[contract_block_tiles k=k m=t n=n " + parameters + "]";
    try {
        plan::Plan plan{
            .graph = graph.name,
            .machine = "test",
            .stored = {{"q", {{}, {{0, 8}, {1, 4}}}}, {"d", {{}, {{0, 8}}}}},
            .specialisations = {{.name = "all",
                                 .bounds = {{"T", {1, 64}}},
                                 .tensors = {},
                                 .kernels = {{"main", plan::parse_nest(nest, "nest", micro_kernels())}}}}};
        verify(graph, "blocks");
        planner::verify_plan(graph, planner::place_buffers(graph, std::move(plan)), "test");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(BlockTiles, MultiplyActivationsOfTwoBytesWithWeightsOfSmallIntegers) {
    const auto product = [](const char* a, const char* weight, const char* value, int64_t a_block) {
        return definition(
            fmt::format("mm(m: 4, n: 5, k*: 256)\nin X i8[m, k], L i8[m, k], S f32[m, k div {}], {}\n"
                        "out C f32[m, n] = sum({} * S * ({}))\n",
                        a_block, weight, a, value));
    };
    const char *const two = "(X * 32 + L)", *const q5 = "Q u5[n, k], s u8[n, k div 32], D f16[n, k div 64]",
                      *const q8 = "Q i8[n, k], D f16[n, k div 64]",
                      *const unsigned8 = "Q u8[n, k], D f16[n, k div 64]";
    EXPECT_EQ(why_not("contract_block_tiles", product(two, q5, "(Q - 8) * s * D", 64)), "");
    EXPECT_EQ(why_not("contract_block_tiles", product(two, q8, "Q * D", 256)), "");
    EXPECT_EQ(why_not("contract_block_tiles", product(two, unsigned8, "Q * D", 256)), "");
    const std::string bytes =
        "its activations are no two bytes that share a scale over several blocks, or its weights no signed "
        "bytes";
    EXPECT_EQ(why_not("contract_block_tiles", product("(X + L)", q8, "Q * D", 256)),
              "its body is no product of small integers whose scales are constant in blocks");
    EXPECT_EQ(why_not("contract_block_tiles", product(two, q8, "Q * D", 64)), bytes);
    EXPECT_EQ(why_not("contract_block_tiles", definition("mm(m: 4, n: 5, k*: 6)\nin A f32[m, k], B f32[n, "
                                                         "k]\nout C f32[m, n] = sum(A * B)\n")),
              "its body is no product of small integers whose scales are constant in blocks");
}

TEST(BlockTiles, AreAsLargeAsTheUnitHolds) {
    EXPECT_EQ(refused("tile_rows=16 lanes=8 depth=32"), "");
    EXPECT_THAT(refused("tile_rows=17 lanes=8 depth=32"), HasSubstr("expected a number from 1 to 16"));
    EXPECT_THAT(refused("tile_rows=16 lanes=32 depth=32"), HasSubstr("expected a number from 1 to 16"));
    EXPECT_THAT(refused("tile_rows=16 lanes=8"), HasSubstr("depth"));
}

TEST(BlockTiles, AreAsDeepAsSumsAreOfIntegers) {
    EXPECT_EQ(refused("tile_rows=16 lanes=8 depth=16"), "");
    EXPECT_THAT(refused("tile_rows=16 lanes=8 depth=64"), HasSubstr("a multiple of 4 that divides 32"));
    EXPECT_THAT(refused("tile_rows=16 lanes=8 depth=6"), HasSubstr("a multiple of 4 that divides 32"));
    EXPECT_THAT(refused("tile_rows=16 lanes=8 depth=2"), HasSubstr("expected a number from 4 to 64"));
}

TEST(BlockTiles, TheirSumsFitTheStack) {
    EXPECT_EQ(refused("tile_rows=16 lanes=8 depth=4 groups=8", 4), "");
    EXPECT_THAT(refused("tile_rows=16 lanes=8 depth=4 groups=16", 4), HasSubstr("choose fewer groups"));
}

}  // namespace
}  // namespace tessera::kernels
