#include "cost/weighted_sizes.h"

#include <gtest/gtest.h>

#include "search/planner/default_planner.h"

namespace tessera::cost {
namespace {

Graph doubled() {
    return parse_graph(R"(graph "g"
symbol T in 1..64
point decode_1 weight 3: T = 1
point prefill_32 weight 2: T = 32
input x: f32[T, 8]
value y: f32[T, 8]

block main
  node y(x) -> y
    op double(t: T, i: 8)
    dim T in 1..64
    in X f32[t, i]
    out Y f32[t, i] = X + X
output y
)",
                       "g");
}

// The bounds of the general code hold one token, too, but that runs the code for one token.
TEST(WeightedSizes, APointCountsWhereItRuns) {
    const Graph graph = doubled();
    const plan::Plan plan = planner::initial_plan(graph, {});
    ASSERT_EQ(plan.specialisations.size(), 2);
    const std::vector<WeightedSizes> decode = sizes_of(graph, plan, plan.specialisations[0]),
                                     prefill = sizes_of(graph, plan, plan.specialisations[1]);
    ASSERT_EQ(decode.size(), 1);
    EXPECT_EQ(decode[0].symbols.at("T"), 1);
    EXPECT_EQ(decode[0].weight, 3);
    ASSERT_EQ(prefill.size(), 1);
    EXPECT_EQ(prefill[0].symbols.at("T"), 32);
    EXPECT_EQ(prefill[0].weight, 2);
}

TEST(WeightedSizes, WithoutPointsTheLargestSizesCount) {
    Graph graph = doubled();
    graph.points.resize(1);
    const plan::Plan plan = planner::initial_plan(graph, {});
    const std::vector<WeightedSizes> sizes = sizes_of(graph, plan, plan.specialisations[1]);
    ASSERT_EQ(sizes.size(), 1);
    EXPECT_EQ(sizes[0].symbols.at("T"), 64);
}

}  // namespace
}  // namespace tessera::cost
