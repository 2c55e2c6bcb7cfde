#include "search/planner/stored_layout.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "search/planner/usual_machine.h"

namespace tessera::planner {
namespace {

/// A short convolution and a delta rule's state, of heads of 128.
constexpr const char* kRecurrences = R"(graph "recurrences"
symbol T in 1..8
input x: f32[T, 256]
constant w: f32[256, 3] from "w"
state past: f32[2, 256]
state s: f32[2, 64, 128]
value past_new: f32[2, 256]
value s_new: f32[2, 64, 128]
value y: f32[T, 256]
value z: f32[T, 2, 128]
block main
  update past -> past_new
  update s -> s_new
  node conv(x, w) over past -> past_new, y
    op conv(k*: 2, c: 256, i>: T)
    dim T in 1..8
    in X f32[i, c]
    in W f32[c, k] of [256, 3]
    carry P f32[k, c]
    out Y f32[i, c] = sum(P * W) + X
    carry P = X
  node scan(x) over s -> s_new, z
    op scan(h: 2, d*: 64, e: 128, i>: T)
    dim T in 1..8
    in X f32[i, 64 * h + d] of [T, 256]
    carry S f32[h, d, e]
    carry S = S * 0.5 + X
    out Z f32[i, h, e] = sum(S)
output y
output z
)";

/// Keys of which a part is values, as in latent attention, lie as values do, though the scores come first.
TEST(StoredLayout, OfKeysThatAreValuesIsThatOfValues) {
    const std::string cache = R"(graph "attention"
symbol S in 16..64 multiple of 16
symbol P in 1..4
input q: f32[2, 24]
input page: i32[4]
state k: bf16[P, 16, 1, 24]
STATE
value scores: f32[2, S]
value M: f32[2]
value L: f32[2]
value A: f32[2, 16]
block main
  node scores(page, q, k) -> scores
    op scores(i: 2, s: S, e*: 24)
    dim S in 16..64 multiple of 16, P in 1..4
    index page i32[s div 16] of [4]
    in Q f32[i, e]
    in K bf16[page[s div 16], s mod 16, 0, e] of [P, 16, 1, 24]
    out Y f32[i, s] = sum(Q * K)
  node attend(page, scores, VALUES) -> M, L, A
    op attend(i: 2, d: 16, s*: S)
    dim S in 16..64 multiple of 16, P in 1..4
    index page i32[s div 16] of [4]
    in scores f32[i, s]
    in V bf16[page[s div 16], s mod 16, 0, d] of [P, 16, 1, 24]
    out M f32[i], L f32[i], A f32[i, d] = softmax_sum(scores, V)
output A
output L
output M
)";
    const auto stored_keys = [&](const std::string& state, const std::string& values) {
        std::string text = cache;
        text.replace(text.find("STATE"), 5, state);
        text.replace(text.find("VALUES"), 6, values);
        const Graph graph = parse_graph(text, "attention");
        const PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 16});
        plan::Plan plan;
        for (const Node& node : graph.blocks[0].nodes) choose_stored_layout(graph, node, options, plan);
        return plan.stored.contains("k") ? print(plan.stored.at("k")) : "";
    };
    EXPECT_EQ(stored_keys("state v: bf16[P, 16, 1, 24]", "v"), "order [2, 0, 3, 1]");
    EXPECT_EQ(stored_keys("", "k"), "order [2, 0, 1, 3]");
}

/// Whatever the order of the axes of a matrix, each group of its columns has all of k behind it.
TEST(StoredLayout, OfAMatrixIsByGroupsOfItsColumns) {
    const Graph graph = parse_graph(R"(graph "products"
input x: f32[5, 64]
constant v: f32[64, 32] from "v"
constant w: f32[32, 64] from "w"
value y: f32[5, 32]
value z: f32[5, 32]
block main
  node y(x, v) -> y
    op matmul(m: 5, n: 32, k*: 64)
    in X f32[m, k]
    in V f32[k, n]
    out Y f32[m, n] = sum(X * V)
  node z(x, w) -> z
    op matmul(m: 5, n: 32, k*: 64)
    in X f32[m, k]
    in W f32[n, k]
    out Z f32[m, n] = sum(X * W)
output y
output z
)",
                                    "products");
    const PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 16});
    plan::Plan plan;
    for (const Node& node : graph.blocks[0].nodes) choose_stored_layout(graph, node, options, plan);
    EXPECT_EQ(print(plan.stored.at("v")), "order [1, 0] lanes <1:16>");
    EXPECT_EQ(print(plan.stored.at("w")), "lanes <0:16>");
}

TEST(StoredLayout, OfRowsHasKInnermost) {
    const Graph graph = parse_graph(R"(graph "convolution"
input x: f32[8, 20]
constant w: f32[6, 8, 3] from "w"
value y: f32[6, 18]
block main
  node y(x, w) -> y
    op convolution(m: 6, o: 18, c*: 8, k*: 3)
    in X f32[c, o + k] of [8, 20]
    in W f32[m, c, k]
    out Y f32[m, o] = sum(W * X)
output y
)",
                                    "convolution");
    const Node& node = graph.blocks[0].nodes.front();
    std::set<std::string> found;
    for (const kernels::Contraction& roles : kernels::contractions_of(*node.definition()))
        if (const auto layout = layout_of_rows(graph, node, roles)) found.insert(print(*layout));
    EXPECT_EQ(found, (std::set<std::string>{"order [0, 2, 1]"}));
}

TEST(StoredLayout, OfARecurrenceIsByGroupsOfItsLanes) {
    const Graph graph = parse_graph(kRecurrences, "recurrences");
    const PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 16});
    plan::Plan plan;
    for (const Node& node : graph.blocks[0].nodes) choose_stored_layout(graph, node, options, plan);
    EXPECT_EQ(print(plan.stored.at("s")), "order [0, 2, 1] lanes <2:64>");
    EXPECT_EQ(print(plan.stored.at("past")), "order [1, 0] lanes <1:64>");
    EXPECT_EQ(print(plan.stored.at("w")), "order [1, 0]") << "the channels, which have the lanes, innermost";
}

TEST(StoredLayout, OfARecurrenceOnScalarsIsByRows) {
    const Graph graph = parse_graph(kRecurrences, "recurrences");
    const PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 1});
    plan::Plan plan;
    for (const Node& node : graph.blocks[0].nodes) choose_stored_layout(graph, node, options, plan);
    EXPECT_FALSE(plan.stored.contains("s"));
}

}  // namespace
}  // namespace tessera::planner
