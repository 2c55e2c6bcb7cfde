#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/extraction/extract.h"
#include "search/extraction/random_problem.h"

namespace tessera::extraction {
namespace {

using ::testing::IsEmpty;

/// Small budgets prove nothing about it, the default one does.
Problem hard_problem(unsigned seed) {
    std::mt19937 random(seed);
    return cover_problem(random, 60, 40, 3);
}

TEST(ExtractBudget, BoundsAndCostsCloseInOnTheOptimum) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = hard_problem(seed);
        const Result whole = extract(problem);
        ASSERT_EQ(whole.status, Status::kOptimal);
        for (const int64_t conflicts : {0, 1, 20, 200, 2000}) {
            SCOPED_TRACE(conflicts);
            const Result part = extract(problem, {.conflicts = conflicts});
            ASSERT_THAT(violations(problem, part.choice), IsEmpty());
            EXPECT_LE(part.bound, whole.cost);
            EXPECT_GE(part.cost, whole.cost);
            EXPECT_FALSE(part.was_stopped);
            if (part.status == Status::kOptimal) {
                EXPECT_EQ(part.cost, whole.cost);
            } else {
                EXPECT_EQ(part.status, Status::kFeasible);
                EXPECT_DOUBLE_EQ(part.gap(), (part.cost - part.bound) / part.cost);
            }
        }
    }
}

TEST(ExtractBudget, TheSameWorkGivesTheSameResult) {
    const Problem problem = hard_problem(7);
    for (const int64_t conflicts : {0, 100, 400'000}) {
        const Result first = extract(problem, {.conflicts = conflicts});
        const Result second = extract(problem, {.conflicts = conflicts});
        EXPECT_EQ(first.choice, second.choice);
        EXPECT_EQ(first.cost, second.cost);
        EXPECT_EQ(first.bound, second.bound);
        EXPECT_EQ(first.conflicts, second.conflicts);
    }
}

TEST(ExtractBudget, WithoutConflictsOnlyTheSeedsAreTaken) {
    const Result result = extract(hard_problem(3), {.conflicts = 0});
    EXPECT_EQ(result.status, Status::kFeasible);
    EXPECT_EQ(result.conflicts, 0);
}

TEST(ExtractBudget, CancellingKeepsTheBestAndSaysSo) {
    int calls = 0;
    const Problem problem = hard_problem(2);
    const Result result = extract(problem, {.on_progress = [&](const Progress& now) {
                                      EXPECT_TRUE(now.cost.has_value());
                                      return ++calls > 3;
                                  }});
    EXPECT_TRUE(result.was_stopped);
    EXPECT_EQ(result.status, Status::kFeasible);
    EXPECT_THAT(violations(problem, result.choice), IsEmpty());
}

TEST(ExtractBudget, ATimeThatHasPassedLeavesTheSeeds) {
    const Result result = extract(hard_problem(2), {.seconds = 1e-9});
    EXPECT_TRUE(result.was_stopped);
    EXPECT_EQ(result.status, Status::kFeasible);
}

}  // namespace
}  // namespace tessera::extraction
