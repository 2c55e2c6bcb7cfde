#include "chip/designs.h"

#include <gtest/gtest.h>

#include "chip/plan_schedule.h"
#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

constexpr Design kScheduling[] = {Design::kBasic, Design::kStatic, Design::kElkDyn, Design::kElkFull};

TEST(Designs, AreValidAndNeverBelowTheIdeal) {
    size_t found = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 6, .most_rows = 4, .copies = 1 + seed % 3});
        const PlanResult best = plan_schedule(problem, {.work = 200'000});
        if (!best.has_schedule()) continue;
        const double ideal = ideal_total(problem);
        EXPECT_LE(ideal, best.total * (1 + 1e-9)) << seed;
        for (const Design design : kScheduling) {
            const auto found_one = schedule_by_design(problem, design);
            if (!found_one) continue;
            const Schedule& schedule = found_one->schedule;
            ++found;
            EXPECT_EQ(schedule_fault(problem, schedule), "") << seed << " " << name(design);
            const double total = run_schedule(problem, schedule).total;
            EXPECT_GE(total, best.bound * (1 - 1e-9)) << seed << " " << name(design);
            if (best.status == SolverStatus::kOptimal) {
                EXPECT_GE(total, best.total * (1 - 1e-9));
            }
        }
        // Without reordering, the same search has fewer orders to choose from.
        const auto dynamic = schedule_by_design(problem, Design::kElkDyn);
        const auto full = schedule_by_design(problem, Design::kElkFull);
        if (!dynamic) continue;
        ASSERT_TRUE(full);
        EXPECT_LE(run_schedule(problem, full->schedule).total,
                  run_schedule(problem, dynamic->schedule).total);
    }
    EXPECT_GT(found, 900u);
}

/// a takes 20 cycles in 90 bytes or 30 in 40; b and c need 20 bytes for 10 cycles of HBM and run 10.
ScheduleProblem three_operators() {
    ScheduleProblem problem{.sram_bytes = 100, .clock_hz = 1, .operators = {}, .sequence = {0, 1, 2}};
    problem.operators.push_back(
        {"a", {{.exec_bytes = 90, .compute = 20}, {.exec_bytes = 40, .compute = 30}}});
    for (const char* name : {"b", "c"})
        problem.operators.push_back(
            {name, {{.preload_bytes = 20, .exec_bytes = 30, .compute = 10, .hbm = 10}}});
    return problem;
}

TEST(Designs, BasicTakesTheFastestExecuteAndPreloadsOnlyTheNext) {
    const auto schedule = schedule_by_design(three_operators(), Design::kBasic);
    ASSERT_TRUE(schedule);
    // b does not fit beside the fast a.
    EXPECT_EQ(schedule->schedule, (Schedule{.rows = {0, 0, 0}, .order = {0, 1, 2}, .slots = {0, 1, 1}}));
    EXPECT_EQ(run_schedule(three_operators(), schedule->schedule).total, 20 + 10 + 10 + 10);
}

TEST(Designs, StaticFindsTheBestFixedSpaces) {
    const auto schedule = schedule_by_design(three_operators(), Design::kStatic);
    ASSERT_TRUE(schedule);
    // With 40 bytes for executes and 60 for preloads both preloads run beside a.
    EXPECT_EQ(schedule->schedule, (Schedule{.rows = {1, 0, 0}, .order = {0, 1, 2}, .slots = {0, 0, 0}}));
    EXPECT_EQ(run_schedule(three_operators(), schedule->schedule).total, 50);
}

TEST(Designs, TheIdealHasNoSpaceAndNoContention) {
    EXPECT_EQ(ideal_total(three_operators()), 20 + 10 + 10);
}

TEST(Designs, HaveNames) {
    for (const Design design : kDesigns) EXPECT_EQ(design_of(name(design)), design);
    EXPECT_FALSE(design_of("elk"));
}

}  // namespace
}  // namespace tessera::chip
