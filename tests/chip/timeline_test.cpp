#include "chip/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::chip {
namespace {

using ::testing::HasSubstr;

/// One row: `bytes` preloaded in `preload` cycles with link share `v`, executed in `execute` with share `u`.
Operator one_row(int64_t bytes, double preload, double v, double execute, double u, int64_t exec_bytes) {
    Row row{.preload_bytes = bytes,
            .exec_bytes = exec_bytes,
            .compute = execute * (1 - u),
            .shift = execute * u,
            .distribute = 0,
            .hbm = preload,
            .link_in = preload * v};
    return {"op", {row}};
}

ScheduleProblem two_operators(Share share, double u, double v) {
    return {.sram_bytes = 100,
            .share = share,
            .operators = {one_row(10, 100, 1, 100, u, 20), one_row(10, 100, v, 100, 0, 20)},
            .sequence = {0, 1},
            .repeats = {}};
}

const Schedule kOverlapped{.rows = {0, 0}, .order = {0, 1}, .slots = {0, 0}};

TEST(RunSchedule, OverlapsWithoutContention) {
    const Timeline timeline = run_schedule(two_operators(Share::kFair, 0.5, 0.5), kOverlapped);
    EXPECT_DOUBLE_EQ(timeline.total, 300);
    EXPECT_DOUBLE_EQ(timeline.overlapped, 100);
    EXPECT_DOUBLE_EQ(timeline.preload_only, 100);
    EXPECT_DOUBLE_EQ(timeline.execute_only, 100);
    EXPECT_DOUBLE_EQ(timeline.hbm_busy, 200);
    EXPECT_DOUBLE_EQ(timeline.link_busy, 200);
    EXPECT_EQ(timeline.sram_peak, 40 - 10);
}

TEST(RunSchedule, CountsWhatAFullLinkTakes) {
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0.5, 0.5), kOverlapped).stalled, 0);
    // The preload is slowed down to a third for 100 cycles, then the execute to half for 100.
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kExecute, 0.8, 0.6), kOverlapped).stalled,
                     100 * (1 - 0.2 / 0.6));
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kPreload, 0.8, 0.6), kOverlapped).stalled, 50);
    // Speeds 0.625 and 0.8333 for 120 cycles: the slower one counts.
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0.8, 0.6), kOverlapped).stalled, 120 * 0.375);
}

// Execute 0 has 80 cycles of traffic. A preload of 100 ends among them with the probability 0.8, and then
// waits for 40 cycles in the mean.
TEST(RunSchedule, PhasesOfTrafficKeepPreloadsFromEnding) {
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kPhases, 0.8, 0.2), kOverlapped).total,
                     200 + 32 + 100);
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kPhases, 0.8, 0.6), kOverlapped).total,
                     200 + 100 * (1 - 0.2 / 0.6) + 100);
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kPhases, 0, 1), kOverlapped).total, 300);
    // The mean over the moment of a preload at which the traffic begins.
    for (const double preload : {10.0, 50.0, 100.0, 400.0}) {
        double waits = 0;
        for (int i = 0; i < 1000; ++i) {
            const double until_end = preload * (i + 0.5) / 1000;
            waits += std::max(0.0, 80 - until_end) / 1000;
        }
        EXPECT_NEAR(waiting_part(80, preload), waits / 80, 1e-5);
    }
}

// Execute 0 (share 0.8) and preload 1 (share 0.6) want 1.4 of the link.
TEST(RunSchedule, SharesAFullLink) {
    // Execute at full speed; the preload gets 0.2 of 0.6 for 100 cycles, and 66.7 remain.
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kExecute, 0.8, 0.6), kOverlapped).total,
                     200 + 100 * (1 - 0.2 / 0.6) + 100);
    // Preload at full speed; the execute at 0.4 / 0.8 has half left after 100 cycles.
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kPreload, 0.8, 0.6), kOverlapped).total,
                     200 + 50 + 100);
    // Both get half: speeds 0.625 and 0.8333. The preload ends after 120, the execute has 25 left.
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0.8, 0.6), kOverlapped).total,
                     100 + 120 + 25 + 100);
    // A side that wants less than half gets all it wants.
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0.8, 0.4), kOverlapped).total,
                     run_schedule(two_operators(Share::kPreload, 0.8, 0.4), kOverlapped).total);
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0.4, 0.8), kOverlapped).total,
                     run_schedule(two_operators(Share::kExecute, 0.4, 0.8), kOverlapped).total);
}

TEST(RunSchedule, WaitsForSlots) {
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0, 0), {{0, 0}, {0, 1}, {0, 1}}).total, 400);
    EXPECT_DOUBLE_EQ(run_schedule(two_operators(Share::kFair, 0, 0), {{0, 0}, {1, 0}, {0, 0}}).total, 400);
}

TEST(RunSchedule, SeesSramAtEveryMoment) {
    ScheduleProblem problem = two_operators(Share::kFair, 0, 0);
    problem.sram_bytes = 30;
    EXPECT_FALSE(run_schedule(problem, kOverlapped).excess);
    problem.sram_bytes = 29;
    const Timeline timeline = run_schedule(problem, kOverlapped);
    ASSERT_TRUE(timeline.excess);
    EXPECT_EQ(timeline.excess->position, 0u);
    EXPECT_TRUE(timeline.excess->is_execute);
    EXPECT_EQ(timeline.excess->cycle, 100);
    EXPECT_EQ(timeline.excess->bytes, 30);
    EXPECT_EQ(schedule_fault(problem, kOverlapped),
              "SRAM: 30 of 29 bytes from cycle 100.000, at the execute of operator 0 (op)");
    EXPECT_EQ(schedule_fault(problem, {{0, 0}, {0, 1}, {0, 1}}), "");
}

TEST(FormFault, NamesWhatIsNoProgram) {
    const ScheduleProblem problem = two_operators(Share::kFair, 0, 0);
    EXPECT_EQ(form_fault(problem, kOverlapped), "");
    EXPECT_THAT(form_fault(problem, {{0}, {0, 1}, {0, 0}}), HasSubstr("not 2 numbers"));
    EXPECT_THAT(form_fault(problem, {{0, 1}, {0, 1}, {0, 0}}),
                HasSubstr("rows: operator 1 (op) has no row 1"));
    EXPECT_THAT(form_fault(problem, {{0, 0}, {0, 0}, {0, 0}}),
                HasSubstr("order: 0 is no operator, or is there twice"));
    EXPECT_THAT(form_fault(problem, {{0, 0}, {0, 2}, {0, 0}}), HasSubstr("order: 2 is no operator"));
    EXPECT_THAT(form_fault(problem, {{0, 0}, {0, 1}, {1, 1}}),
                HasSubstr("issued after its execute: deadlock"));
    EXPECT_THAT(form_fault(problem, {{0, 0}, {1, 0}, {0, 1}}),
                HasSubstr("slots: operator 0 (op) has slot 0"));
}

}  // namespace
}  // namespace tessera::chip
