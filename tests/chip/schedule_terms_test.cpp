#include "chip/schedule_terms.h"

#include <gtest/gtest.h>

#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

TEST(ScheduleTerms, AddUpToTheTotal) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 6, .copies = 2});
        Schedule schedule = plain_schedule(problem);
        // Without SRAM, everything is issued at once.
        if (seed % 2 == 1) schedule.slots.assign(problem.size(), 0);
        const Timeline timeline = run_schedule(problem, schedule);
        const ScheduleTerms terms = terms_of(problem, schedule, timeline);
        EXPECT_NEAR(terms.total(), timeline.total, 1e-9 * timeline.total) << seed;
        if (seed % 2 == 0) {
            EXPECT_NEAR(terms.contention, 0, 1e-9 * timeline.total);
            EXPECT_NEAR(terms.wait, timeline.preload_only, 1e-9 * timeline.total);
        }
    }
}

TEST(ScheduleTerms, SayWhatAFullLinkCosts) {
    const Row first{.exec_bytes = 1, .compute = 20, .shift = 80};
    const Row second{
        .preload_bytes = 50, .exec_bytes = 1, .compute = 10, .distribute = 7, .hbm = 50, .link_in = 50};
    const ScheduleProblem problem{
        .sram_bytes = 100, .operators = {{"a", {first}}, {"b", {second}}}, .sequence = {0, 1}, .repeats = {}};
    const Schedule schedule{.rows = {0, 0}, .order = {0, 1}, .slots = {0, 0}};
    const ScheduleTerms terms = terms_of(problem, schedule, run_schedule(problem, schedule));
    EXPECT_EQ(terms.compute, 30);
    EXPECT_EQ(terms.access, 80);
    EXPECT_EQ(terms.distribute, 7);
    // Each has half of the link: the preload needs 100 cycles, in which the execute does 62.5 of its 100.
    EXPECT_NEAR(terms.preload_contention, 50, 1e-9);
    EXPECT_NEAR(terms.contention, 37.5, 1e-9);
    EXPECT_NEAR(terms.wait, 0, 1e-9);
}

}  // namespace
}  // namespace tessera::chip
