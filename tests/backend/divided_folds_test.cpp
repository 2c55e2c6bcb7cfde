// Reductions that the workers divide: the combined parts equal the fold by a single worker, with the same
// bits every time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/divided_attention.h"
#include "lowering/movement/divided_fold_plans.h"

namespace tessera::testing {
namespace {

const std::vector<int64_t> kWorkers = {2, 3};  // tests/lowering/movement interprets others, too

void expect_same(const CompiledPlans& compiled, size_t plan, const GraphCall& call,
                 const GraphResult& expected, const std::string& what) {
    for (const Turns turns : {Turns::kAscending, Turns::kDescending, Turns::kRandom}) {
        const GraphResult got = compiled.run(plan, call, turns);
        const Difference worst = difference(got, expected);
        ASSERT_LE(worst.relative, kTolerance) << what << ": " << worst.where;
        const GraphResult again = compiled.run(plan, call, turns);
        for (size_t o = 0; o < got.outputs.size(); ++o)
            ASSERT_EQ(got.outputs[o].values, again.outputs[o].values) << what << ": to the bit";
    }
}

class DividedFolds : public ::testing::TestWithParam<int64_t> {};

TEST_P(DividedFolds, OfAttentionAreAttention) {
    for (const int64_t heads : {1, 2}) {
        const std::vector<DividedFold> folds = divided_attentions(GetParam(), heads, kWorkers);
        CompiledPlans compiled(GetParam());
        for (const DividedFold& fold : folds) compiled.add(fold.graph, fold.plan);
        compiled.compile();
        for (const int64_t start : kDividedStarts) {
            const GraphCall call = divided_attention_call(folds[0].graph, start, 3);
            const GraphResult expected = interpret_graph(folds[0].graph, call);
            for (size_t p = 0; p < folds.size(); ++p)
                expect_same(compiled, p, call, expected,
                            fmt::format("start {}\n{}", start, plan::print(folds[p].plan)));
        }
    }
}

TEST_P(DividedFolds, OfEveryMonoidAreTheFold) {
    const std::vector<DividedFold> folds = divided_folds(GetParam(), kWorkers);
    CompiledPlans compiled(GetParam());
    for (const DividedFold& fold : folds) compiled.add(fold.graph, fold.plan);
    compiled.compile();
    const GraphCall call = divided_fold_call();
    for (size_t p = 0; p < folds.size(); ++p)
        expect_same(compiled, p, call, interpret_graph(folds[p].graph, call), plan::print(folds[p].plan));
}

INSTANTIATE_TEST_SUITE_P(Lanes, DividedFolds, ::testing::ValuesIn(host_lanes()),
                         [](const auto& lanes) { return std::to_string(lanes.param); });

}  // namespace
}  // namespace tessera::testing
