#include "search/rules/rewrite.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import_model.h"
#include "ir/ops/decompose.h"
#include "search/rules/examples.h"

namespace tessera::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One for each operator, ten for those whose definition has this name.
OperatorCost ten_for(std::string name) {
    return [name = std::move(name)](const egraph::Operator& op, std::span<const TensorType>) {
        if (!op.definition()) return std::numeric_limits<double>::infinity();
        return label(op) == name ? 10.0 : 1.0;
    };
}

constexpr const char* kHead = R"(graph "small"
symbol T in 1..8
point one weight 1: T = 4
input x: f32[T, 6]
input z: f32[T, 6]
)";

TEST(Rewrite, TheShippedModelComesBackAsItIs) {
    const Graph graph = ops::decompose(
        import::import_model(std::filesystem::path(TESSERA_SOURCE_DIR) / "models" / "tessera-tiny").graph);
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    EXPECT_EQ(print(result.graph), print(graph));
    // The default limits do not strike: twice as much finds nothing else.
    RewriteOptions twice{.cost = ten_for("none")};
    twice.saturation.nodes *= 2;
    twice.saturation.iterations *= 2;
    const Rewritten again = rewrite(graph, twice);
    for (size_t i = 0; i < result.blocks.size(); ++i)
        EXPECT_EQ(again.blocks[i].saturation, result.blocks[i].saturation);
    for (const BlockRewrite& block : result.blocks) {
        EXPECT_FALSE(block.is_changed);
        EXPECT_EQ(block.saturation.stop, egraph::StopReason::kSaturated);
        EXPECT_EQ(block.status, extraction::Status::kOptimal);
        EXPECT_EQ(block.cost_before, block.cost_after);
        EXPECT_EQ(block.bound, block.cost_after);
    }
}

/// Nine axes: i4 and i8, as iterators would be called, are types.
TEST(Rewrite, ManyAxes) {
    const std::string turn =
        "    op turn(a: 2, b: 2, c: 2, d: 2, e: 3, f: 1, g: 2, h: 1, j: 2)\n"
        "    in X f32[j, b, c, d, e, f, g, h, a]\n    out Y f32[a, b, c, d, e, f, g, h, j] = X\n";
    const std::string type = "f32[2, 2, 2, 2, 3, 1, 2, 1, 2]\n";
    const Graph graph =
        parse_graph("graph \"nine\"\ninput x: " + type + "value y: " + type + "value z: " + type +
                        "value w: " + type + "block body\n  node one(x) -> y\n" + turn +
                        "  node two(y) -> z\n" + turn + "  node three(z) -> w\n" + turn + "output w\n",
                    "nine");
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    verify(result.graph, "nine");
    EXPECT_EQ(result.graph.blocks.front().nodes.size(), 1U);
}

TEST(Rewrite, ReshapesThatUndoEachOtherGo) {
    const Graph graph = parse_graph(std::string(kHead) + R"(value split: f32[T, 2, 3]
value joined: f32[T, 6]
value y: f32[T, 6]
block body
  node split(x) -> split
    op split_heads(t: T, h: 2, e: 3)
    dim T in 1..8
    in X f32[t, h * 3 + e] of [T, 6]
    out Y f32[t, h, e] = X
  node joined(split) -> joined
    op merge_heads(t: T, n: 6)
    dim T in 1..8
    in X f32[t, n div 3, n mod 3] of [T, 2, 3]
    out Y f32[t, n] = X
  node y(joined, z) -> y
    op add(t: T, d: 6)
    dim T in 1..8
    in A f32[t, d]
    in B f32[t, d]
    out Y f32[t, d] = A + B
output y
)",
                                    "reshapes");
    verify(graph, "reshapes");
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    verify(result.graph, "rewritten");
    const std::string text = print(result.graph);
    EXPECT_THAT(text, HasSubstr("node y(x, z) -> y"));
    EXPECT_THAT(text, Not(HasSubstr("heads")));
    EXPECT_EQ(result.blocks[0].cost_before, 3);
    EXPECT_EQ(result.blocks[0].cost_after, 1);
    EXPECT_EQ(result.blocks[0].bound, 1);
    EXPECT_THAT(print(result.blocks), HasSubstr("fold-two-reshapes: "));
    EXPECT_THAT(summary(result.blocks), HasSubstr("1 of 1 blocks cheaper"));
}

constexpr const char* kTurned = R"(value t: f32[6, T]
value e: f32[6, T]
value y: f32[6, T]
block body
  node t(x) -> t
    op transpose(d: 6, t: T)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[d, t] = X
  node e(t) -> e
    op exp_(d: 6, t: T)
    dim T in 1..8
    in X f32[d, t]
    out Y f32[d, t] = exp(X)
  node y(e, t) -> y
    op mul(d: 6, t: T)
    dim T in 1..8
    in X f32[d, t]
    in Z f32[d, t]
    out Y f32[d, t] = X * Z
output y
)";

TEST(Rewrite, WhatIsAsCheapAsTheGraphLeavesIt) {
    // exp and mul may stand before the transpose or behind it: one transpose it is either way.
    const Graph graph = parse_graph(std::string(kHead) + kTurned, "turned");
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    EXPECT_GT(result.blocks[0].saturation.nodes, 8);
    EXPECT_EQ(print(result.graph), print(graph));
    EXPECT_THAT(print(result.blocks), HasSubstr("unchanged"));
}

TEST(Rewrite, WhatNoneReadsOrIsMadeTwiceIsAGain) {
    const Graph graph = parse_graph(std::string(kHead) + R"(value a: f32[T, 6]
value b: f32[T, 6]
value c: f32[T, 6]
value y: f32[T, 6]
block body
  node a(x) -> a
    op e(t: T, d: 6)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = exp(X)
  node b(x) -> b
    op e(t: T, d: 6)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = exp(X)
  node c(x) -> c
    op n(t: T, d: 6)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = -X
  node y(a, b) -> y
    op s(t: T, d: 6)
    dim T in 1..8
    in X f32[t, d]
    in Z f32[t, d]
    out Y f32[t, d] = X + Z
output y
)",
                                    "twice");
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    EXPECT_EQ(result.blocks[0].cost_before, 4);
    EXPECT_EQ(result.blocks[0].cost_after, 2);
    EXPECT_THAT(print(result.graph), HasSubstr("node y(a, a) -> y"));
}

TEST(Rewrite, CompositesBecomeWhatTheyAre) {
    const Graph graph = parse_graph(std::string(kHead) + R"(input w: f32[6]
value y: f32[T, 6]
block body
  node y(x, w) -> y
    composite rms_norm: epsilon = 1e-06
output y
)",
                                    "norm");
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    verify(result.graph, "rewritten");
    EXPECT_TRUE(std::isinf(result.blocks[0].cost_before));
    EXPECT_EQ(result.blocks[0].cost_after, 2);
    const GraphCall call = rules::testing::random_call(graph, 1, false);
    EXPECT_EQ(rules::testing::difference(interpret_graph(result.graph, call),
                                         interpret_graph(ops::decompose(graph), call), 0),
              "");
}

TEST(Rewrite, AnOutputStaysANodesResult) {
    const Graph graph = parse_graph(std::string(kHead) + R"(value y: f32[T, 6]
block body
  node y(x) -> y
    op copy(t: T, d: 6)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = X
output y
)",
                                    "copy");
    const Rewritten result = rewrite(graph, {.cost = ten_for("none")});
    EXPECT_EQ(print(result.graph), print(graph));
    EXPECT_THAT(result.blocks[0].why_kept, HasSubstr("y would be what the block reads"));
}

}  // namespace
}  // namespace tessera::rules
