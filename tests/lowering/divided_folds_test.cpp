// Reductions that the workers divide, interpreted: the parts that they leave and combine give the result that
// the graph folds, for every monoid, every micro-kernel that folds by tiles, and any number of workers.
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/divided_attention.h"
#include "lowering/movement/divided_fold_plans.h"
#include "lowering/movement/interpreted_plan.h"

namespace tessera::testing {
namespace {

const std::vector<int64_t> kWorkers = {1, 2, 3, 4, 5};

void expect_same(const DividedFold& fold, const InterpretedPlan& lowered, const GraphCall& call) {
    const GraphResult expected = interpret_graph(fold.graph, call);
    for (const movement::WorkerOrder order :
         {movement::WorkerOrder::kAscending, movement::WorkerOrder::kDescending,
          movement::WorkerOrder::kRandom}) {
        const InterpretedPlan::Run run = lowered.run(call, {.order = order});
        ASSERT_EQ(run.faults_text(), "") << plan::print(fold.plan);
        const Difference worst = difference(run.result, expected);
        ASSERT_LE(worst.relative, kTolerance) << worst.where << "\n" << plan::print(fold.plan);
        ASSERT_LE(worst.of_row, kTolerance) << worst.where_in_row << "\n" << plan::print(fold.plan);
    }
}

class DividedFolds : public ::testing::TestWithParam<int64_t> {};

TEST_P(DividedFolds, OfAttentionAreAttention) {
    for (const int64_t heads : {1, 2}) {
        for (const DividedFold& fold : divided_attentions(GetParam(), heads, kWorkers)) {
            EXPECT_TRUE(plan::parse_plan(plan::print(fold.plan), "printed", kernels::micro_kernels()) ==
                        fold.plan);
            const InterpretedPlan lowered(fold.graph, fold.plan);
            for (const int64_t start : kDividedStarts)
                expect_same(fold, lowered, divided_attention_call(fold.graph, start, 3));
        }
    }
}

TEST_P(DividedFolds, OfEveryMonoidAreTheFold) {
    for (const DividedFold& fold : divided_folds(GetParam(), kWorkers))
        expect_same(fold, InterpretedPlan(fold.graph, fold.plan), divided_fold_call());
}

INSTANTIATE_TEST_SUITE_P(Lanes, DividedFolds, ::testing::Values(16, 8, 4));

}  // namespace
}  // namespace tessera::testing
