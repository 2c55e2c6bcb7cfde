// Lowered programs of random graphs, interpreted, against the graph: default plans, plans that a person might
// write, any number of workers in any order, layouts of all kinds. Every graph rounds where its definition
// says so, so only the rounding of f32 remains.
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/interpreted_plan.h"
#include "lowering/movement/parse_program.h"
#include "lowering/movement/plan_variation.h"
#include "lowering/movement/planned_graphs.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr int64_t kWidths[] = {16, 8, 4};
constexpr movement::WorkerOrder kOrders[] = {
    movement::WorkerOrder::kAscending, movement::WorkerOrder::kDescending, movement::WorkerOrder::kRandom};

void expect_same(const PlannedGraph& planned) {
    const InterpretedPlan interpreted(planned.lowered(), planned.plan);
    for (const int64_t tokens : kTokens) {
        const GraphCall call = planned.graph.call(tokens);
        const GraphResult expected = interpret_graph(planned.graph.graph, call);
        const auto where = [&] {
            return fmt::format("{}, T = {}\n{}{}", planned.what, tokens, print(planned.lowered()),
                               plan::print(planned.plan));
        };
        for (const movement::WorkerOrder order : kOrders) {
            const InterpretedPlan::Run run = interpreted.run(call, {.order = order});
            const Difference worst = difference(run.result, expected, kSmallestOutput);
            ASSERT_EQ(run.faults_text(), "") << where();
            ASSERT_LE(worst.of_row, kToleranceOfPlans) << worst.where_in_row << "\n" << where();
            ASSERT_LE(worst.relative, kToleranceOfPlans) << worst.where << "\n" << where();
            if (planned.plan.workers == 1) break;
        }
    }
}

void expect_same(const std::vector<PlannedGraph>& all) {
    for (const PlannedGraph& planned : all) expect_same(planned);
}

/// Several seeds make one case. `Seeds` run under the sanitizers, `Many` do not.
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
    each_seed(GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(default_planned(seed, lanes_of(seed))); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, DefaultPlans, ::testing::Range<uint64_t>(0, 3));
INSTANTIATE_TEST_SUITE_P(Many, DefaultPlans, ::testing::Range<uint64_t>(3, 40));

using EditedPlans = Interpreted;
TEST_P(EditedPlans, ComputeWhatTheGraphDoes) {
    each_seed(1000 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(edited_plans(seed, lanes_of(seed), 6)); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, EditedPlans, ::testing::Values<uint64_t>(0));
INSTANTIATE_TEST_SUITE_P(Many, EditedPlans, ::testing::Range<uint64_t>(1, 5));

using WorkerPlans = Interpreted;
TEST_P(WorkerPlans, ComputeWhatTheGraphDoes) {
    each_seed(2000 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(plans_of_workers(seed, lanes_of(seed))); });
}
TEST_P(WorkerPlans, EditedOnesComputeWhatTheGraphDoes) {
    each_seed(2000 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(edited_plans_of_workers(seed, lanes_of(seed), 4)); });
}
TEST_P(WorkerPlans, NoBarrierOfADefaultOneIsNeedless) {
    each_seed(2000 + GetParam() * kSeedsOfACase, [](uint64_t seed) {
        for (const PlannedGraph& planned : plans_of_workers(seed, lanes_of(seed))) {
            if (planned.plan.workers != 3) continue;
            for (size_t s = 0; s < planned.plan.specialisations.size(); ++s) {
                for (size_t k = 0; k < planned.plan.specialisations[s].kernels.size(); ++k) {
                    if (!planned.plan.specialisations[s].kernels[k].barrier) continue;
                    plan::Plan without = planned.plan;
                    without.specialisations[s].kernels[k].barrier = false;
                    EXPECT_THROW((void)placed_and_verified(planned.graph.graph, without), Error)
                        << planned.what << ", kernel " << k << "\n"
                        << plan::print(planned.plan);
                }
            }
        }
    });
}
INSTANTIATE_TEST_SUITE_P(Seeds, WorkerPlans, ::testing::Values<uint64_t>(0));
INSTANTIATE_TEST_SUITE_P(Many, WorkerPlans, ::testing::Range<uint64_t>(1, 5));

class RaggedPlans : public ::testing::TestWithParam<int64_t> {};
TEST_P(RaggedPlans, ComputeWhatTheGraphDoes) {
    // Extents at which groups of lanes begin, end and are left over.
    const int64_t lanes = GetParam();
    expect_same(ragged_plans(lanes, {1, lanes - 1, lanes, lanes + 1, 2 * lanes, 13, 31}));
}
INSTANTIATE_TEST_SUITE_P(Lanes, RaggedPlans, ::testing::ValuesIn(kWidths));

using LayoutPlans = Interpreted;
TEST_P(LayoutPlans, ComputeWhatTheGraphDoes) {
    each_seed(1 + GetParam() * kSeedsOfACase,
              [](uint64_t seed) { expect_same(laid_out(seed, lanes_of(seed))); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, LayoutPlans, ::testing::Values<uint64_t>(0));
INSTANTIATE_TEST_SUITE_P(Many, LayoutPlans, ::testing::Range<uint64_t>(1, 5));

/// The corpus has every call.
TEST(DefaultPlanCorpus, HasEveryKindOfCall) {
    std::set<const movement::CallKind*> missing(kernels::call_kinds().begin(), kernels::call_kinds().end());
    const std::function<void(const movement::Body&)> look = [&](const movement::Body& body) {
        for (const movement::Statement& statement : body) {
            if (const auto* call = std::get_if<movement::Call>(&statement.node)) missing.erase(&call->kind());
            if (const auto* loop = std::get_if<movement::For>(&statement.node)) look(loop->body);
        }
    };
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const PlannedGraph planned = default_planned(seed, lanes_of(seed));
        const InterpretedPlan lowered(planned.lowered(), planned.plan);
        for (const movement::Program& program : lowered.programs()) {
            for (const movement::ProgramBlock& block : program.blocks) {
                for (const movement::Kernel& kernel : block.kernels) look(kernel.body);
            }
        }
    }
    for (const movement::CallKind* kind : missing) ADD_FAILURE() << kind->name << " is never called";
}

/// A program that is printed and parsed is the same one.
TEST(PrintedPrograms, AreReadBack) {
    for (uint64_t seed = 3000; seed < 3020; ++seed) {
        for (const PlannedGraph& planned : edited_plans_of_workers(seed, lanes_of(seed), 2)) {
            EXPECT_TRUE(plan::parse_plan(plan::print(planned.plan), "printed", kernels::micro_kernels()) ==
                        planned.plan)
                << planned.what;
            const InterpretedPlan lowered(planned.graph.graph, planned.plan);
            for (const movement::Program& program : lowered.programs()) {
                const std::string text = movement::print(program);
                const movement::Program again =
                    movement::parse_program(text, "printed", kernels::call_kinds());
                ASSERT_EQ(movement::print(again), text);
                ASSERT_TRUE(again == program) << text;
            }
        }
    }
}

}  // namespace
}  // namespace tessera::testing
