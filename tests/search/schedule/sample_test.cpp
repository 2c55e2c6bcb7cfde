#include "search/schedule/sample.h"

#include <set>

#include <gtest/gtest.h>

#include "search/schedule/searched.h"

namespace tessera::schedule {
namespace {

using testing::kRows;
using testing::Searched;

std::vector<std::string> keys(BlockContext& block, size_t count, uint64_t seed) {
    std::vector<std::string> all;
    for (const Alternative& drawn : samples(block, count, seed)) all.push_back(key_of(block, drawn));
    return all;
}

TEST(Samples, AreLegalAndNoneIsEstimatedBelowTheBestChoice) {
    Searched rows(kRows);
    const double best = search(rows.context(), {}).seconds;
    const std::vector<Alternative> drawn = samples(rows.context(), 40, 1);
    ASSERT_EQ(drawn.size(), 40U);
    std::set<size_t> kernels;
    for (const Alternative& each : drawn) {
        double sum = 0;
        std::set<int> operators;
        for (const SolvedKernel& kernel : each.kernels) {
            sum += kernel.seconds;
            const std::vector<bool> is_tile = tiles_of(rows.context(), kernel.nest);
            EXPECT_FALSE(lowering::why_illegal(rows.context().links, kernel.nest, is_tile));
            for (const int op : kernel.nest.operators()) operators.insert(op);
        }
        EXPECT_EQ(operators.size(), rows.context().links.operators.size());
        EXPECT_DOUBLE_EQ(sum, each.seconds);
        EXPECT_GE(each.seconds, 0.98 * best);  // the search prefers small buffers among equals
        kernels.insert(each.kernels.size());
    }
    EXPECT_GT(kernels.size(), 1U) << "structures are drawn too";
}

TEST(Samples, FollowFromTheSeedAndAreDifferent) {
    Searched rows(kRows);
    const std::vector<std::string> first = keys(rows.context(), 20, 1);
    EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), first.size());
    EXPECT_EQ(keys(rows.context(), 20, 1), first);
    EXPECT_NE(keys(rows.context(), 20, 2), first);
}

}  // namespace
}  // namespace tessera::schedule
