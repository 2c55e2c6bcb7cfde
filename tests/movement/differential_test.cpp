// Lowered programs of random graphs, interpreted, against the graph: default plans, plans that a person might
// write, any number of workers in any order, layouts of all kinds. Every graph rounds where its definition
// says so, so what is left is the rounding of f32.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/micro_kernels.h"
#include "movement/interpreted_plan.h"
#include "movement/parse_program.h"
#include "movement/planned_graphs.h"
#include "planner/verify_plan.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

// Depth of a graph times the terms of its longest sum times the rounding unit of F32, about 10 x 40 x 6e-8.
constexpr double kTolerance = 3e-5;
constexpr int64_t kWidths[] = {16, 8, 4};
constexpr WorkerOrder kOrders[] = {WorkerOrder::kAscending, WorkerOrder::kDescending, WorkerOrder::kRandom};

int64_t lanes_of(uint64_t seed) {
    return kWidths[seed % std::size(kWidths)];
}

/// `lowered`: the graph of which the plan is, if it is not the random one.
void expect_same(const PlannedGraph& planned, const Graph& lowered) {
    const InterpretedPlan interpreted(lowered, planned.plan);
    for (const int64_t tokens : kTokens) {
        const GraphCall call = planned.graph.call(tokens);
        const GraphResult expected = interpret_graph(planned.graph.graph, call);
        const std::string where = fmt::format("{}, T = {}", planned.what, tokens);
        for (const WorkerOrder order : kOrders) {
            const InterpretedPlan::Run run = interpreted.run(call, {.order = order});
            const Difference worst = difference(run.result, expected);
            ASSERT_EQ(run.faults_text(), "") << where << "\n" << print(lowered) << print(planned.plan);
            ASSERT_LE(worst.relative, kTolerance) << where << ": " << worst.where << "\n"
                                                  << print(lowered) << print(planned.plan);
            if (planned.plan.workers == 1) break;
        }
    }
}

void expect_same(const std::vector<PlannedGraph>& all) {
    for (const PlannedGraph& planned : all) expect_same(planned, planned.graph.graph);
}

/// Several seeds make one case.
constexpr uint64_t kSeedsOfACase = 10;

class Interpreted : public ::testing::TestWithParam<uint64_t> {
protected:
    template <class Run>
    void each_seed(uint64_t first, Run run) {
        for (uint64_t seed = first; seed < first + kSeedsOfACase && !HasFatalFailure(); ++seed) run(seed);
    }
};

using DefaultPlans = Interpreted;
TEST_P(DefaultPlans, ComputeWhatTheGraphDoes) {
    each_seed(GetParam() * kSeedsOfACase, [](uint64_t seed) {
        const PlannedGraph planned = default_planned(seed, lanes_of(seed));
        expect_same(planned, planned.graph.graph);
    });
}
INSTANTIATE_TEST_SUITE_P(Seeds, DefaultPlans, ::testing::Range<uint64_t>(0, 20));

using EditedPlans = Interpreted;
TEST_P(EditedPlans, ComputeWhatTheGraphDoes) {
    each_seed(1000 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(edited_plans(seed, lanes_of(seed), 6)); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, EditedPlans, ::testing::Range<uint64_t>(0, 4));

using WorkerPlans = Interpreted;
TEST_P(WorkerPlans, ComputeWhatTheGraphDoes) {
    each_seed(2000 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(plans_of_workers(seed, lanes_of(seed))); });
}
TEST_P(WorkerPlans, EditedOnesComputeWhatTheGraphDoes) {
    each_seed(2000 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(edited_plans_of_workers(seed, lanes_of(seed), 4)); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, WorkerPlans, ::testing::Range<uint64_t>(0, 4));

class RaggedPlans : public ::testing::TestWithParam<int64_t> {};
TEST_P(RaggedPlans, ComputeWhatTheGraphDoes) {
    expect_same(ragged_plans(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Lanes, RaggedPlans, ::testing::ValuesIn(kWidths));

using LayoutPlans = Interpreted;
TEST_P(LayoutPlans, ComputeWhatTheGraphDoes) {
    each_seed(1 + GetParam() * kSeedsOfACase, [](uint64_t seed) {
        const LaidOutGraph each = laid_out(seed, lanes_of(seed));
        expect_same({each.graph, each.plan, fmt::format("seed {}", seed)}, each.lowered);
    });
}
INSTANTIATE_TEST_SUITE_P(Seeds, LayoutPlans, ::testing::Range<uint64_t>(0, 4));

/// A program that is printed and parsed is the same one.
TEST(PrintedPrograms, AreReadBack) {
    for (uint64_t seed = 3000; seed < 3020; ++seed) {
        for (const PlannedGraph& planned : edited_plans_of_workers(seed, lanes_of(seed), 2)) {
            EXPECT_TRUE(parse_plan(print(planned.plan), "printed", micro_kernels()) == planned.plan)
                << planned.what;
            const InterpretedPlan lowered(planned.graph.graph, planned.plan);
            for (const Program& program : lowered.programs()) {
                const std::string text = print(program);
                const Program again = parse_program(text, "printed", call_kinds());
                ASSERT_EQ(print(again), text);
                ASSERT_TRUE(again == program) << text;
            }
        }
    }
}

}  // namespace
}  // namespace tessera::testing
