#include "compiler/tune/lone_kernel.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/planner/default_planner.h"
#include "search/planner/rows_graph.h"
#include "search/planner/usual_machine.h"

namespace tessera::tune {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const Block& block) {
    std::vector<std::string> names;
    for (const Node& node : block.nodes) names.push_back(node.name);
    return names;
}

const Block& block(const Graph& graph, const std::string& name) {
    return *std::ranges::find(graph.blocks, name, &Block::name);
}

TEST(LoneKernels, CopyWhatTheyReadAndWhatOthersReadOfThem) {
    const Graph graph = testing::rows_graph();
    const plan::Plan plan =
        planner::default_plan(graph, testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1}));
    const LoneKernel lone = lone_kernel(graph, plan, plan.specialisations.front(), {"normed", "doubled"});
    EXPECT_THAT(names(block(lone.graph, "before")), ElementsAre("copy_r"));
    EXPECT_THAT(names(block(lone.graph, kLoneBlock)), ElementsAre("normed", "doubled"));
    // Another operator reads both.
    EXPECT_THAT(names(block(lone.graph, "behind")), ElementsAre("copy_taken_normed", "copy_taken_doubled"));
    EXPECT_EQ(lone.graph.outputs.size(), 2U);
    EXPECT_TRUE(lone.graph.find("x"));  // an input of the whole stays one
    EXPECT_EQ(lone.graph.points.size(), 1U);
}

TEST(LoneKernels, ArePlannedAsThePartOfTheWholeThatTheyAre) {
    const Graph graph = testing::rows_graph();
    const planner::PlannerOptions options =
        testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1});
    const plan::Plan plan = planner::default_plan(graph, options);
    const LoneKernel lone =
        lone_kernel(graph, plan, plan.specialisations.front(), {"r", "normed", "doubled", "y"});
    const plan::Plan planned = planner::complete_plan(lone.graph, lone.plan, options);
    std::vector<std::string> nests, whole;
    for (const plan::KernelPlan& kernel : planned.specialisations.front().kernels)
        if (kernel.block == kLoneBlock) nests.push_back(plan::print(kernel.nest));
    for (const plan::KernelPlan& kernel : plan.specialisations.front().kernels)
        whole.push_back(plan::print(kernel.nest));
    EXPECT_EQ(nests, whole);
}

TEST(LoneKernels, KeepTheirStatesWithTheUpdates) {
    const Graph graph = parse_graph(R"(graph "states"
symbol T in 1..8
input x: f32[T]
state s: f32[T]
value s_new: f32[T]
value y: f32[T]

block main
  update s -> s_new
  node write(x) over s -> s_new
    op store(t: T)
    dim T in 1..8
    in X f32[t]
    update S f32[t] = X
  node read(s_new) -> y
    op apply(t: T)
    dim T in 1..8
    in S f32[t]
    out Y f32[t] = S * 2

output y
)",
                                    "states");
    verify(graph, "states");
    const plan::Plan plan =
        planner::default_plan(graph, testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1}));
    const LoneKernel lone = lone_kernel(graph, plan, plan.specialisations.front(), {"write", "read"});
    ASSERT_EQ(block(lone.graph, kLoneBlock).states.size(), 1U);
    EXPECT_THAT(names(block(lone.graph, "behind")), ElementsAre("copy_taken_y"));
}

}  // namespace
}  // namespace tessera::tune
