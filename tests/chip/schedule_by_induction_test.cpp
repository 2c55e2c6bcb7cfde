#include "chip/schedule_by_induction.h"

#include <numeric>

#include <gtest/gtest.h>

#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

std::vector<size_t> in_order(const ScheduleProblem& problem) {
    std::vector<size_t> order(problem.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
}

// Appendix A of paper 003 as a test: without contention no program that keeps the order of preloads is
// shorter.
TEST(Induction, IsOptimalInOrderWithoutContention) {
    size_t overlapped = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 6, .most_rows = 2, .has_contention = false});
        const auto result = schedule_by_induction(problem, in_order(problem));
        ASSERT_TRUE(result);
        const double least = EveryProgram(problem, true).least();
        ASSERT_NEAR(result->total, least, 1e-11 * least);
        ASSERT_EQ(schedule_fault(problem, result->schedule), "");
        ASSERT_NEAR(run_schedule(problem, result->schedule).total, least, 1e-11 * least);
        overlapped += least < run_schedule(problem, plain_schedule(problem)).total * 0.99 ? 1 : 0;
    }
    EXPECT_GT(overlapped, 500u);
}

TEST(Induction, GivesProgramsWithContentionToo) {
    size_t valid = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const ScheduleProblem problem = RandomTables(seed).make({.most_positions = 4, .most_rows = 3});
        for (const Allocation& allocate :
             {Allocation(allocate_memory), Allocation(allocate_memory_exactly)}) {
            const auto result = schedule_by_induction(problem, in_order(problem), allocate);
            if (!result || !schedule_fault(problem, result->schedule).empty()) continue;
            ++valid;
            EXPECT_GE(run_schedule(problem, result->schedule).total,
                      EveryProgram(problem).least() * (1 - 1e-12));
        }
    }
    EXPECT_GT(valid, 350u);
}

// Operator 1 is preloaded in its large row, which needs no distribution, unless the SRAM is too small for it.
TEST(Induction, DistributesWhatIsNotPreloaded) {
    const Row first{.preload_bytes = 10, .exec_bytes = 50, .compute = 100, .hbm = 10, .link_in = 10};
    const Row large{.preload_bytes = 60, .exec_bytes = 60, .compute = 100, .hbm = 20, .link_in = 60};
    const Row small{
        .preload_bytes = 20, .exec_bytes = 60, .compute = 100, .distribute = 30, .hbm = 20, .link_in = 20};
    ScheduleProblem problem{.sram_bytes = 110,
                            .operators = {{"a", {first}}, {"b", {small, large}}},
                            .sequence = {0, 1},
                            .repeats = {}};
    EXPECT_EQ(schedule_by_induction(problem, {0, 1})->schedule.rows, (std::vector<size_t>{0, 1}));
    EXPECT_EQ(schedule_by_induction(problem, {0, 1})->schedule.slots, (std::vector<size_t>{0, 0}));
    problem.sram_bytes = 109;
    EXPECT_EQ(schedule_by_induction(problem, {0, 1})->schedule.rows, (std::vector<size_t>{0, 0}));
}

}  // namespace
}  // namespace tessera::chip
