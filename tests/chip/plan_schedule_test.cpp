#include "chip/plan_schedule.h"

#include <gtest/gtest.h>

#include "chip/anneal_schedule.h"
#include "chip/exact_schedule.h"
#include "chip/random_tables.h"
#include "chip/repeat_plan.h"

namespace tessera::chip {
namespace {

TEST(PlanSchedule, ProvesSmallProblems) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 4, .most_rows = 3});
        const PlanResult result = plan_schedule(problem);
        EXPECT_EQ(result.status, SolverStatus::kOptimal);
        EXPECT_EQ(result.bound, result.total);
        EXPECT_EQ(schedule_fault(problem, result.schedule), "");
        EXPECT_NEAR(result.total, EveryProgram(problem).least(), 1e-11 * result.total);
    }
}

// The search for many positions, asked about few.
TEST(AnnealSchedule, MostlyFindsTheOptimumOfSmallProblems) {
    size_t found = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 5, .most_rows = 3});
        Choice start;
        for (const size_t row : plain_schedule(problem).rows) start.row.push_back(static_cast<int32_t>(row));
        start.queue = carriers(problem);
        start.lead.assign(problem.size(), Choice::kAnyLead);
        const Choice best = anneal_schedule(problem, start, {.work = 20'000});
        const Schedule schedule = EarliestTimeline(problem, best).schedule();
        ASSERT_EQ(schedule_fault(problem, schedule), "");
        const double least = exact_schedule(problem, schedule).total;
        found += run_schedule(problem, schedule).total <= least * (1 + 1e-9) ? 1 : 0;
    }
    EXPECT_GE(found, 54u);
}

TEST(PlanSchedule, IsValidDeterministicAndWithinItsWork) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 12, .most_rows = 4, .copies = 6});
        const PlanOptions options{.work = 30'000};
        const PlanResult result = plan_schedule(problem, options);
        EXPECT_EQ(schedule_fault(problem, result.schedule), "");
        EXPECT_EQ(run_schedule(problem, result.schedule).total, result.total);
        EXPECT_LE(result.bound, result.total);
        EXPECT_GE(result.bound, resource_bounds(problem).largest() * (1 - 1e-9));
        EXPECT_LE(result.total, run_schedule(problem, plain_schedule(problem)).total);
        EXPECT_EQ(plan_schedule(problem, options).schedule, result.schedule);
        const PlanResult more = plan_schedule(problem, {.work = 300'000});
        EXPECT_LE(more.total, result.total * (1 + 1e-9));
        EXPECT_EQ(schedule_fault(problem, plan_schedule(problem, {.work = 0}).schedule), "");
    }
}

TEST(PlanSchedule, StopsWhenItIsTold) {
    unsigned seed = 0;
    ScheduleProblem problem;
    do problem = RandomTables(seed++).make({.most_positions = 12, .most_rows = 4, .copies = 6});
    while (plan_schedule(problem, {.work = 10'000}).status == SolverStatus::kOptimal);
    int questions = 0;
    const PlanResult result = plan_schedule(problem, {.must_stop = [&] { return ++questions > 3; }});
    EXPECT_TRUE(result.was_stopped);
    EXPECT_EQ(schedule_fault(problem, result.schedule), "");
}

TEST(PlanSchedule, NamesTheOperatorThatDoesNotFit) {
    ScheduleProblem problem = RandomTables(4).make({.most_positions = 4});
    problem.operators.push_back({"large", {{.preload_bytes = 10, .exec_bytes = 1025, .compute = 1}}});
    problem.sequence.push_back(problem.operators.size() - 1);
    const PlanResult result = plan_schedule(problem);
    EXPECT_EQ(result.status, SolverStatus::kInfeasible);
    EXPECT_EQ(result.infeasible_position, problem.size() - 1);
}

TEST(RepeatPlan, CarriesTheMiddleCopyToAllBetween) {
    ScheduleProblem problem = RandomTables(2).make({.most_positions = 1, .most_rows = 1});
    const Row row{.preload_bytes = 10, .exec_bytes = 10, .compute = 1, .hbm = 1, .link_in = 1};
    problem.operators = {{"a", {row, row, row, row}}, {"b", {row}}};
    problem.sequence = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1};
    problem.repeats = {{1, 2, 5}};
    const ScheduleProblem fewer = with_fewer_copies(problem, 3);
    EXPECT_EQ(fewer.sequence, (std::vector<size_t>{1, 0, 1, 0, 1, 0, 1, 1}));
    EXPECT_EQ(fewer.repeats, (std::vector<Repeat>{{1, 2, 3}}));
    const Choice few{
        .row = {0, 1, 0, 2, 0, 3, 0, 0}, .queue = {0, 1, 2, 4, 3, 5, 6, 7}, .lead = {9, 1, 1, 2, 2, 3, 3, 9}};
    const Choice all = expand_copies(problem, fewer, few);
    EXPECT_EQ(all.row, (std::vector<int32_t>{0, 1, 0, 2, 0, 2, 0, 2, 0, 3, 0, 0}));
    EXPECT_EQ(all.lead, (std::vector<int32_t>{9, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 9}));
    EXPECT_EQ(all.queue, (std::vector<int32_t>{0, 1, 2, 4, 3, 6, 5, 8, 7, 9, 10, 11}));
}

}  // namespace
}  // namespace tessera::chip
