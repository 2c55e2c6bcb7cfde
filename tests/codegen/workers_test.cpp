// A step computed by several workers is the step: default plans and plans that a person might write, for any
// number of workers, whatever order they run in between barriers.
#include <gtest/gtest.h>

#include "codegen/compiled_plans.h"
#include "kernels/micro_kernels.h"
#include "movement/plan_variation.h"
#include "movement/random_graph.h"
#include "planner/default_planner.h"
#include "planner/verify_plan.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr double kTolerance = 3e-5;  // as in differential_test.cpp

class Workers : public ::testing::TestWithParam<uint64_t> {};

PlannerOptions options(int64_t lanes, int64_t workers, double barrier) {
    return {.machine = "test",
            .lanes = lanes,
            .vector_registers = 32,
            .cached_bytes = 2048,
            .workers = workers,
            .iterations_of_a_barrier = barrier,
            .barriers_of_a_layer = barrier == 0 ? 1000 : 5};
}

void expect_same(const CompiledPlans& compiled, const std::vector<Plan>& plans, const RandomGraph& graph) {
    for (const int64_t tokens : {1, 2, 7, 17, 23}) {
        const GraphCall call = graph.call(tokens);
        const GraphResult expected = interpret_graph(graph.graph, call);
        for (size_t p = 0; p < plans.size(); ++p) {
            for (const Turns turns : {Turns::kAscending, Turns::kDescending, Turns::kRandom}) {
                const Difference worst = difference(compiled.run(p, call, turns), expected);
                ASSERT_LE(worst.relative, kTolerance)
                    << "plan " << p << ", T = " << tokens << ", turns " << static_cast<int>(turns) << ": "
                    << worst.where << "\n"
                    << print(graph.graph) << print(plans[p]);
            }
        }
    }
}

TEST_P(Workers, DefaultPlansComputeWhatTheInterpreterDoes) {
    const std::vector<int64_t> widths = host_lanes();
    const int64_t lanes = widths[GetParam() % widths.size()];
    const RandomGraph graph = random_graph(GetParam(), lanes);
    CompiledPlans compiled(lanes);
    std::vector<Plan> plans;
    for (const int64_t workers : {2, 3, 5}) {
        // Free barriers divide everything that can be, at the usual price the graphs are too small for most.
        for (const double barrier : {0.0, 100.0}) {
            plans.push_back(default_plan(graph.graph, options(lanes, workers, barrier)));
            verify_plan(graph.graph, plans.back(), "default plan");
            EXPECT_TRUE(parse_plan(print(plans.back()), "printed", micro_kernels()) == plans.back());
            compiled.add(graph.graph, plans.back());
        }
    }
    compiled.compile();
    expect_same(compiled, plans, graph);
}

TEST_P(Workers, NoBarrierOfADefaultPlanIsNeedless) {
    const RandomGraph graph = random_graph(GetParam(), 16);
    for (const double barrier : {0.0, 100.0}) {
        const Plan plan = default_plan(graph.graph, options(16, 3, barrier));
        for (size_t s = 0; s < plan.specialisations.size(); ++s) {
            for (size_t k = 0; k < plan.specialisations[s].kernels.size(); ++k) {
                if (!plan.specialisations[s].kernels[k].barrier) continue;
                Plan without = plan;
                without.specialisations[s].kernels[k].barrier = false;
                EXPECT_THROW((void)placed_and_verified(graph.graph, without), Error) << "kernel " << k << "\n"
                                                                                     << print(plan);
            }
        }
    }
}

TEST_P(Workers, EditedPlansComputeWhatTheInterpreterDoes) {
    std::mt19937_64 random(GetParam());
    const std::vector<int64_t> widths = host_lanes();
    const int64_t lanes = widths[GetParam() % widths.size()];
    const RandomGraph graph = random_graph(GetParam(), lanes);
    Plan start = default_plan(graph.graph, options(lanes, 2, 0));
    start.specialisations.erase(start.specialisations.begin(), start.specialisations.end() - 1);
    CompiledPlans compiled(lanes);
    std::vector<Plan> plans;
    for (int i = 0; i < 4; ++i) {
        plans.push_back(vary(graph.graph, start, 4 + 4 * i, 300, random).plan);
        compiled.add(graph.graph, plans.back());
    }
    compiled.compile();
    expect_same(compiled, plans, graph);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Workers, ::testing::Range<uint64_t>(201, 206));

}  // namespace
}  // namespace tessera::testing
