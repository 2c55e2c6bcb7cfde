#include "search/planner/leaf_alternatives.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "lowering/kernels/leaf_of.h"
#include "lowering/kernels/parameters.h"
#include "search/planner/default_planner.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"

namespace tessera::planner {
namespace {

using ::testing::HasSubstr;

/// A row of scores and the values of as many positions.
Graph attention() {
    Graph graph = parse_graph(R"(graph "attention"
input q: f32[1, 32]
constant k: f16[128, 32] from "k"
constant v: f16[128, 32] from "v"
value scores: f32[1, 128]
value largest: f32[1]
value weights: f32[1]
value weighted: f32[1, 32]
value y: f32[1, 32]

block main
  node scores(q, k) -> scores
    op scores(t: 1, s: 128, e*: 32)
    in Q f32[t, e]
    in K f16[s, e]
    out P f32[t, s] = sum(Q * K) * 0.1767767
  node attend(scores, v) -> largest, weights, weighted
    op attend(t: 1, d: 32, s*: 128)
    in P f32[t, s]
    in V f16[s, d]
    out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)
  node y(weighted, weights) -> y
    op normalise(t: 1, d: 32)
    in A f32[t, d]
    in L f32[t]
    out Y f32[t, d] = A / L

output y
)",
                              "attention");
    verify(graph, "attention");
    return graph;
}

/// Products of one row: with B in the main memory so many times as long if they fetch `gaining` bytes ahead,
/// twice as long if they fetch at another distance.
machine::Machine machine(double of_scores, double of_values, int64_t gaining) {
    machine::Machine machine = testing::measured_machine();
    std::erase_if(machine.micro_kernels,
                  [](const machine::MicroKernelTime& time) { return time.name != "loops"; });
    const auto add = [&](const char* name, const std::map<std::string, int64_t>& sizes, int64_t groups,
                         double times) {
        std::map<std::string, int64_t> parameters = {{"rows", 1}, {"groups", groups}, {"lanes", 16}};
        const auto with_prefetch = [&](double of_memory) {
            for (const auto& [level, seconds] : {std::pair("L2", 1e-6), std::pair("memory", of_memory)})
                machine.micro_kernels.push_back(
                    testing::kernel_time(name, "f32", "f16", parameters, sizes, level, seconds));
        };
        with_prefetch(3e-6);
        for (const int64_t prefetch : {16384, 6144, 4096, 2048, 1024, 512}) {
            parameters["prefetch"] = prefetch;
            with_prefetch(prefetch == gaining ? times * 3e-6 : 6e-6);
        }
    };
    add("contract", {{"m", 1}, {"n", 128}, {"k", 32}}, 1, of_scores);
    add("stream", {{"m", 1}, {"d", 32}, {"s", 128}}, 2, of_values);
    return machine;
}

TEST(LeafAlternatives, ProductsInsideLoopsFetchAheadWhereThatWasFaster) {
    const Graph graph = attention();
    const bool both[] = {false, true};
    for (const int64_t gaining : {4096, 6144, 16384}) {
        const std::string prefetch = "prefetch=" + std::to_string(gaining);
        for (const bool scores_gain : both) {
            for (const bool values_gain : both) {
                PlannerOptions options{.machine = "doctored", .has_all_blocks = true};
                options.constant_bytes = int64_t{1} << 30;
                options.costs = std::make_shared<const cost::CostModel>(
                    machine(scores_gain ? 0.7 : 1.3, values_gain ? 0.7 : 1.3, gaining));
                const plan::Plan plan = default_plan(graph, options);
                EXPECT_NO_THROW(verify_plan(graph, plan, "default plan"));
                std::string nest;
                for (const plan::KernelPlan& kernel : plan.specialisations[0].kernels)
                    nest += plan::print(kernel.nest) + "\n";
                const size_t values = nest.find("attend[stream");
                ASSERT_NE(values, std::string::npos) << nest;
                const std::string of_scores = nest.substr(0, values), of_values = nest.substr(values);
                ASSERT_THAT(of_scores, HasSubstr("scores[contract"));
                EXPECT_EQ(of_scores.find(prefetch) != std::string::npos, scores_gain) << nest;
                EXPECT_EQ(of_values.find(prefetch) != std::string::npos, values_gain) << nest;
            }
        }
    }
}

TEST(LeafAlternatives, OtherBlocksKeepMicroKernelIteratorsAndLanes) {
    const Graph graph = attention();
    const Node& scores = graph.blocks[0].nodes[0];
    const plan::SpecialisationPlan specialisation;
    const PlannerOptions options = testing::on_usual_machine({.machine = "any", .has_all_blocks = true});
    const plan::Leaf leaf = testing::leaf_of("scores[contract k=e lanes=16 m=t n=s]");
    const std::vector<plan::Leaf> others = leaf_alternatives(scores, leaf, specialisation, options);
    EXPECT_GT(others.size(), 4U);
    for (const plan::Leaf& other : others) {
        EXPECT_EQ(other.kernel, leaf.kernel);
        for (const plan::Parameter& parameter : leaf.kernel->parameters) {
            if (parameter.is_of_block) continue;
            EXPECT_EQ(plan::Leaf(other).reset(parameter) == other, plan::Leaf(leaf).reset(parameter) == leaf);
            EXPECT_EQ(other.is_given(parameter), leaf.is_given(parameter)) << parameter.name;
        }
        EXPECT_EQ(other.iterator(kernels::parameter::kColumns), "s");
        EXPECT_EQ(other.number(kernels::parameter::kLanes), 16);
    }
    plan::Leaf narrow = leaf;
    narrow.set(kernels::parameter::kLanes, 5);
    EXPECT_TRUE(leaf_alternatives(scores, narrow, specialisation, options).empty());
}

}  // namespace
}  // namespace tessera::planner
