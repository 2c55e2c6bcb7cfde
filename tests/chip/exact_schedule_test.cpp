#include "chip/exact_schedule.h"

#include <gtest/gtest.h>

#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

TEST(ExactSchedule, FindsTheLeastTotalOfAllPrograms) {
    for (unsigned seed = 0; seed < 250; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 4, .most_rows = 3});
        const ExactResult result = exact_schedule(problem, plain_schedule(problem));
        ASSERT_TRUE(result.is_proved);
        EXPECT_EQ(schedule_fault(problem, result.best), "");
        EXPECT_EQ(result.total, run_schedule(problem, result.best).total);
        const double least = EveryProgram(problem).least();
        EXPECT_NEAR(result.total, least, 1e-11 * least);
    }
}

TEST(ExactSchedule, EachInferenceShrinksTheSearchAndKeepsTheOptimum) {
    int64_t all = 0, without_bound = 0, without_merging = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 5, .most_rows = 2});
        const Schedule start = plain_schedule(problem);
        const ExactResult result = exact_schedule(problem, start);
        const ExactResult unbounded = exact_schedule(problem, start, {.cut_by_bound = false});
        const ExactResult unmerged = exact_schedule(problem, start, {.merge_states = false});
        EXPECT_NEAR(unbounded.total, result.total, 1e-11 * result.total);
        EXPECT_NEAR(unmerged.total, result.total, 1e-11 * result.total);
        all += result.nodes;
        without_bound += unbounded.nodes;
        without_merging += unmerged.nodes;
    }
    EXPECT_LT(all, without_bound);
    EXPECT_LT(all, without_merging);
}

TEST(ExactSchedule, ProvesNothingBeyondItsNodes) {
    const ScheduleProblem problem = RandomTables(3).make({.most_positions = 5, .most_rows = 3, .copies = 2});
    const ExactResult result =
        exact_schedule(problem, plain_schedule(problem), {.nodes = 5, .cut_by_bound = false});
    EXPECT_FALSE(result.is_proved);
    EXPECT_EQ(result.nodes, 5);
    EXPECT_EQ(schedule_fault(problem, result.best), "");
}

}  // namespace
}  // namespace tessera::chip
