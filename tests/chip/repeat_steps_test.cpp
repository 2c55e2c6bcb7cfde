#include "chip/repeat_steps.h"

#include <gtest/gtest.h>

#include "chip/plan_schedule.h"
#include "chip/random_tables.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

TEST(RepeatedSteps, AreTheStepsOneAfterTheOther) {
    ScheduleProblem step;
    step.operators.resize(3);
    step.sequence = {0, 1, 1, 2};
    step.repeats = {{1, 1, 2}};
    const ScheduleProblem steps = repeated_steps(step, 3);
    EXPECT_EQ(steps.sequence, (std::vector<size_t>{0, 1, 1, 2, 0, 1, 1, 2, 0, 1, 1, 2}));
    EXPECT_EQ(steps.repeats, (std::vector<Repeat>{{1, 1, 2}, {5, 1, 2}, {9, 1, 2}}));
    EXPECT_EQ(repeated_steps(step, 1), step);
}

// Against every program of two steps. A step in the stream is never slower than one alone, and mostly faster.
TEST(RepeatedSteps, TakeTheLeastTimeOfAllPrograms) {
    size_t faster = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem step = RandomTables(seed).make({.most_positions = 2, .most_rows = 3});
        const ScheduleProblem steps = repeated_steps(step, 2);
        const PlanResult alone = plan_schedule(step), both = plan_schedule(steps);
        EXPECT_EQ(both.status, SolverStatus::kOptimal);
        EXPECT_NEAR(both.total, EveryProgram(steps).least(), 1e-11 * both.total);
        EXPECT_LE(both.total, 2 * alone.total * (1 + 1e-9));
        faster += both.total < 2 * alone.total * (1 - 1e-9) ? 1 : 0;
    }
    EXPECT_GE(faster, 10U);
}

TEST(RepeatedSteps, PreloadsWaitForTheOperatorOfTheStepBefore) {
    // Two steps of a and b; a of the second one is preloaded at the very begin, b beside a of the first one.
    ScheduleProblem step{.sram_bytes = 100, .operators = {}, .sequence = {0, 1, 2}};
    const Row row{.preload_bytes = 10, .exec_bytes = 10, .compute = 100, .hbm = 20, .link_in = 5};
    const Row empty{.preload_bytes = 0, .exec_bytes = 10, .compute = 100};
    step.operators = {{"a", {row}}, {"nothing", {empty}}, {"b", {row}}};
    const ScheduleProblem steps = repeated_steps(step, 2);
    const Schedule schedule{
        .rows = {0, 0, 0, 0, 0, 0}, .order = {0, 3, 2, 1, 5, 4}, .slots = {0, 0, 0, 0, 1, 1}};
    ASSERT_EQ(schedule_fault(steps, schedule), "");
    const Schedule delayed = after_step_before(steps, schedule, 3);
    EXPECT_EQ(delayed.slots, (std::vector<size_t>{0, 0, 1, 1, 0, 3}));
    EXPECT_EQ(delayed.order, (std::vector<size_t>{1, 4, 0, 3, 2, 5}));
    EXPECT_EQ(after_step_before(steps, delayed, 3), delayed);
    // b of the first step would have to wait for its own execute.
    const Schedule late{.rows = schedule.rows, .order = {0, 1, 3, 4, 5, 2}, .slots = {0, 0, 0, 0, 0, 0}};
    ASSERT_EQ(schedule_fault(steps, late), "");
    EXPECT_EQ(after_step_before(steps, late, 3).slots, (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(RepeatedSteps, OfAnyTablesStayValidWhenPreloadsAreDelayed) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const ScheduleProblem step = RandomTables(seed).make({.most_positions = 4, .most_rows = 3});
        const ScheduleProblem steps = repeated_steps(step, 3);
        const PlanResult found = plan_schedule(steps, {.work = 20'000});
        const Schedule later = after_step_before(steps, found.schedule, step.size());
        EXPECT_EQ(schedule_fault(steps, later), "") << seed;
        for (size_t i = step.size(); i < steps.size(); ++i)
            EXPECT_TRUE(steps.at(i).rows[later.rows[i]].preload() == 0 || later.slots[i] + step.size() > i);
        EXPECT_GE(run_schedule(steps, later).total, found.bound * (1 - 1e-9));
    }
}

}  // namespace
}  // namespace tessera::chip
