#include "chip/partition/drawn_call.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tessera::partition {
namespace {

constexpr const char* kDrawnGraph = R"(graph "g"
symbol T in 1..8
input x: f32[T, 4]
input at: i32[T]
constant w: f32[4] from "a", "b"
state s: f32[4]
value s_new: f32[4]
value y: f32[T, 4]

block layer repeat 2
  update s -> s_new
  node put(w) over s -> s_new
    op put(i: 4)
    in X f32[i]
    update Y f32[i] = X
  node y(x) -> y
    op copy(t: T, i: 4)
    dim T in 1..8
    in X f32[t, i]
    out Y f32[t, i] = X

output y
)";

TEST(DrawnCall, FollowsFromTheSeed) {
    const Graph graph = parse_graph(kDrawnGraph, "g.ir");
    const GraphCall call = drawn_call(graph, {{"T", 5}}, 1, "g.ir");
    const GraphCall again = drawn_call(graph, {{"T", 5}}, 1, "g.ir");
    const GraphCall other = drawn_call(graph, {{"T", 5}}, 2, "g.ir");
    EXPECT_EQ(call.inputs.at("x").shape, (std::vector<int64_t>{5, 4}));
    EXPECT_EQ(call.inputs.at("x").values, again.inputs.at("x").values);
    EXPECT_NE(call.inputs.at("x").values, other.inputs.at("x").values);
    for (const double value : call.inputs.at("x").values) EXPECT_LE(std::fabs(value), 1);
    for (const double value : call.inputs.at("at").values) EXPECT_TRUE(value == 0 || value == 1);
    ASSERT_EQ(call.states.at("s").size(), 2U);
    EXPECT_NE(call.states.at("s")[0].values, call.states.at("s")[1].values);
    const Value& w = graph[*graph.find("w")];
    EXPECT_EQ(call.constant(w, 1).values, again.constant(w, 1).values);
    EXPECT_NE(call.constant(w, 1).values, call.constant(w, 0).values);
}

TEST(DrawnCall, DistancesAreOverTheRange) {
    EXPECT_EQ(distance_of({1, 2, 3}, {1, 2, 3}), 0);
    EXPECT_EQ(distance_of({1, 2, 3}, {1, 2, 5}), 0.5);
    EXPECT_EQ(distance_of({NAN, 2}, {1, 2}), HUGE_VAL);
    EXPECT_EQ(distance_of({3}, {2}), 0.5);
}

}  // namespace
}  // namespace tessera::partition
