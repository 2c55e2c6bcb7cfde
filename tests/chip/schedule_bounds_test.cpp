#include "chip/schedule_bounds.h"

#include <gtest/gtest.h>

#include "chip/ahead_bound.h"
#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

TEST(ScheduleBounds, AreNeverAboveTheLeastTotal) {
    size_t ahead_is_largest = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 4, .most_rows = 2});
        ASSERT_FALSE(infeasible_position(problem));
        ScheduleBounds bounds = resource_bounds(problem);
        const double others = bounds.largest();
        bounds.ahead = ahead_bound(problem);
        const double least = EveryProgram(problem).least();
        EXPECT_LE(bounds.largest(), least * (1 + 1e-12));
        ahead_is_largest += bounds.ahead > others * (1 + 1e-6) ? 1 : 0;
    }
    EXPECT_GT(ahead_is_largest, 30u);
}

TEST(ScheduleBounds, SeeUsableRowsOnly) {
    ScheduleProblem problem = RandomTables(1).make();
    problem.operators.assign(
        1, {"op",
            {{.preload_bytes = 10, .exec_bytes = 10, .compute = 5, .hbm = 3, .link_in = 2},
             {.preload_bytes = 10, .exec_bytes = 2000, .compute = 1, .hbm = 3, .link_in = 2}}});
    problem.sequence = {0, 0};
    const ScheduleBounds bounds = resource_bounds(problem);
    EXPECT_EQ(bounds.execute, 10);
    EXPECT_EQ(bounds.hbm, 6);
    EXPECT_EQ(bounds.link, 4);
    EXPECT_EQ(bounds.path, 13);
    problem.sram_bytes = 9;
    EXPECT_EQ(infeasible_position(problem), 0u);
}

TEST(AheadBound, StaysOneWithFewStates) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 12, .most_rows = 4});
        const double whole = ahead_bound(problem);
        EXPECT_LE(ahead_bound(problem, {.most_states = 1}), whole);
        EXPECT_LE(ahead_bound(problem, {.most_states = 2}), whole);
    }
}

// Both operators need the whole SRAM in their fast rows: then nothing is preloaded beside an execute.
TEST(AheadBound, PaysForPreloadsThatDoNotFit) {
    const Row fast{.preload_bytes = 100, .exec_bytes = 1024, .compute = 10, .hbm = 100, .link_in = 100};
    const Row small{.preload_bytes = 100, .exec_bytes = 100, .compute = 60, .hbm = 100, .link_in = 100};
    const ScheduleProblem problem{
        .sram_bytes = 1024, .operators = {{"op", {fast, small}}}, .sequence = {0, 0, 0}, .repeats = {}};
    EXPECT_EQ(resource_bounds(problem).largest(), 310);
    EXPECT_NEAR(ahead_bound(problem), 310, 0.01);
    ScheduleProblem only_fast = problem;
    only_fast.operators[0].rows.pop_back();
    EXPECT_EQ(resource_bounds(only_fast).largest(), 310);
    EXPECT_NEAR(ahead_bound(only_fast), 330, 0.01);
}

}  // namespace
}  // namespace tessera::chip
