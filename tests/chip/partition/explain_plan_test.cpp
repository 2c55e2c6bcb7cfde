#include "chip/partition/explain_plan.h"

#include <gtest/gtest.h>

#include "chip/plan_schedule.h"
#include "chip/random_tables.h"

namespace tessera::partition {
namespace {

TEST(ExplainPlan, AlternativesAreNotBetterThanTheOptimum) {
    size_t rows = 0, leads = 0, fitting = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const chip::ScheduleProblem problem =
            chip::RandomTables(seed).make({.most_positions = 5, .most_rows = 4});
        const chip::PlanResult best = chip::plan_schedule(problem);
        ASSERT_EQ(best.status, SolverStatus::kOptimal);
        for (size_t op = 0; op < problem.operators.size(); ++op) {
            std::optional<double> before;
            bool all_fit = true;
            for (const Alternative& each : other_rows(problem, best.schedule, op)) {
                ++rows;
                all_fit = all_fit && each.total;
                EXPECT_EQ(all_fit, each.total.has_value());  // what does not fit comes last
                if (!each.total) continue;
                ++fitting;
                EXPECT_GE(*each.total, best.total * (1 - 1e-9));
                EXPECT_GE(*each.total, before.value_or(0));
                before = each.total;
            }
        }
        for (size_t i = 0; i < problem.size(); ++i) {
            for (const Alternative& each : shorter_leads(problem, best.schedule, i)) {
                ++leads;
                EXPECT_LT(each.lead.value(), i - best.schedule.slots[i]);
                EXPECT_GE(each.total.value_or(best.total), best.total * (1 - 1e-9));
            }
        }
    }
    EXPECT_GT(rows, 100u);
    EXPECT_GT(leads, 20u);
    EXPECT_GT(fitting, 50u);
}

TEST(ExplainPlan, ALatePreloadIsWaitedFor) {
    chip::ScheduleProblem problem{.sram_bytes = 100, .clock_hz = 1, .operators = {}, .sequence = {0, 1}};
    problem.operators.push_back({"a", {{.exec_bytes = 40, .compute = 30}}});
    problem.operators.push_back({"b", {{.preload_bytes = 20, .exec_bytes = 30, .compute = 10, .hbm = 10}}});
    const chip::PlanResult best = chip::plan_schedule(problem);
    ASSERT_EQ(best.total, 40);
    const auto leads = shorter_leads(problem, best.schedule, 1);
    ASSERT_EQ(leads.size(), 1u);
    EXPECT_EQ(leads[0].lead, 0u);
    EXPECT_EQ(leads[0].total, 50);
}

}  // namespace
}  // namespace tessera::partition
