#include "chip/together_bound.h"

#include <gtest/gtest.h>

#include "chip/plan_schedule.h"
#include "chip/random_tables.h"
#include "chip/schedule_bounds.h"

namespace tessera::chip {
namespace {

TEST(TogetherBound, IsNeverAboveTheLeastTotal) {
    size_t is_largest = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 4, .most_rows = 2});
        const TogetherBound bound = together_bound(problem);
        EXPECT_EQ(weights_fault(problem, bound.weights), "");
        EXPECT_LE(bound.cycles, EveryProgram(problem).least() * (1 + 1e-12));
        is_largest += bound.cycles > resource_bounds(problem).largest() * (1 + 1e-6) ? 1 : 0;
    }
    EXPECT_GT(is_largest, 40u);
}

// Copies far apart are judged by those that are near.
TEST(TogetherBound, HasWeightsThatHoldInAllCopies) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 4, .most_rows = 3, .copies = 2 + seed % 6});
        const TogetherBound bound = together_bound(problem, {.work = 100'000});
        EXPECT_EQ(weights_fault(problem, bound.weights), "");
        EXPECT_EQ(bound.cycles, cycles_of_weights(problem, bound.weights));
    }
}

TEST(TogetherBound, EveryWeightIsAsLargeAsItMayBe) {
    size_t faults = 0, weights = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 4, .most_rows = 2});
        ProgressWeights larger = together_bound(problem).weights;
        for (size_t i = 0; i < problem.size(); ++i)
            for (size_t r = 0; r < problem.at(i).rows.size(); ++r) {
                if (!problem.is_usable(problem.at(i).rows[r])) continue;
                const double before = larger.execute[i][r];
                larger.execute[i][r] = before + 0.01;
                ++weights;
                faults += weights_fault(problem, larger).empty() ? 0 : 1;
                larger.execute[i][r] = before;
            }
    }
    EXPECT_EQ(faults, weights);
}

// Large operators do not fit beside each other, so each is preloaded alone, but for small executes between
// them.
TEST(TogetherBound, SeesOperatorsThatDoNotFitTogether) {
    const Row large{.preload_bytes = 600, .exec_bytes = 600, .compute = 100, .hbm = 70, .link_in = 10};
    const Row small{.preload_bytes = 0, .exec_bytes = 10, .compute = 20};
    ScheduleProblem problem{.sram_bytes = 1000,
                            .operators = {{"large", {large}}, {"small", {small}}},
                            .sequence = {},
                            .repeats = {}};
    for (int i = 0; i < 50; ++i) problem.sequence.insert(problem.sequence.end(), {0, 1});
    problem.repeats = {{0, 2, 50}};
    EXPECT_NEAR(resource_bounds(problem).largest(), 6070, 1e-6);
    EXPECT_NEAR(together_bound(problem).cycles, 50 * 120 + 50 * 50, 1);
    problem.sram_bytes = 1200;
    EXPECT_NEAR(together_bound(problem).cycles, 6000, 1);
}

// Two of the four preloads fit beside the long execute, and each of them does: their space decides.
TEST(TogetherBound, CountsTheSpaceOfAllThatRunsAhead) {
    const Row large{.preload_bytes = 0, .exec_bytes = 100, .compute = 1000};
    const Row small{.preload_bytes = 400, .exec_bytes = 100, .compute = 10, .hbm = 50, .link_in = 5};
    ScheduleProblem problem{.sram_bytes = 1000,
                            .operators = {{"large", {large}}, {"small", {small}}},
                            .sequence = {},
                            .repeats = {{0, 5, 20}}};
    for (int i = 0; i < 20; ++i) problem.sequence.insert(problem.sequence.end(), {0, 1, 1, 1, 1});
    const TogetherBound bound = together_bound(problem);
    EXPECT_EQ(weights_fault(problem, bound.weights), "");
    EXPECT_GT(bound.cycles, 1075 * 20);
    EXPECT_LE(bound.cycles, plan_schedule(problem, {.work = 100'000}).total);
    // Without a price of space the executes hide everything.
    problem.sram_bytes = 2000;
    EXPECT_NEAR(together_bound(problem).cycles, 1040 * 20, 1);
}

TEST(TogetherBound, GivesUpBeyondItsPairs) {
    const ScheduleProblem problem = RandomTables(7).make({.most_positions = 5, .most_rows = 3, .copies = 3});
    EXPECT_EQ(together_bound(problem, {.most_pairs = 0}).cycles, 0);
}

}  // namespace
}  // namespace tessera::chip
