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
        const double least = EveryProgram(problem, in_order(problem)).least();
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
        for (const double price : {0.0, 0.5, 1.0}) {
            const auto result = schedule_by_induction(problem, in_order(problem), {.link_price = price});
            ASSERT_TRUE(result) << seed;
            ASSERT_EQ(schedule_fault(problem, result->schedule), "") << seed;
            ++valid;
            EXPECT_GE(run_schedule(problem, result->schedule).total,
                      EveryProgram(problem).least() * (1 - 1e-12));
        }
    }
    EXPECT_EQ(valid, 600u);
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

// The third term of 4.3: the large preload fills the link beside an execute that needs it, too.
TEST(Induction, PaysForTheLinkThatAPreloadFills) {
    const Row first{.exec_bytes = 10, .compute = 60, .shift = 40};
    const Row large{.preload_bytes = 90, .exec_bytes = 90, .compute = 100, .hbm = 10, .link_in = 90};
    const Row small{
        .preload_bytes = 10, .exec_bytes = 90, .compute = 100, .distribute = 20, .hbm = 10, .link_in = 10};
    const ScheduleProblem problem{.sram_bytes = 1000,
                                  .operators = {{"a", {first}}, {"b", {large, small}}},
                                  .sequence = {0, 1},
                                  .repeats = {}};
    const auto free = schedule_by_induction(problem, {0, 1}, {.link_price = 0});
    EXPECT_EQ(free->schedule.rows, (std::vector<size_t>{0, 0}));
    const auto paid = schedule_by_induction(problem, {0, 1}, {.link_price = 1});
    EXPECT_EQ(paid->schedule.rows, (std::vector<size_t>{0, 1}));
    // Beside a, the link gives the large preload the 60 % that a leaves: 100 cycles move 60 of its 90, the
    // rest follows alone.
    EXPECT_DOUBLE_EQ(free->total, 100 + 30 + 100);
    EXPECT_DOUBLE_EQ(paid->total, 100 + 120);
}

// Current-to-end times know contention: what the induction predicts is about what the evaluator says.
TEST(Induction, PredictsItsTotal) {
    double predicted = 0, total = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 8, .most_rows = 3, .copies = 3});
        const auto result = schedule_by_induction(problem, in_order(problem));
        if (!result) continue;
        const double evaluated = run_schedule(problem, result->schedule).total;
        EXPECT_NEAR(result->total, evaluated, 0.35 * evaluated) << seed;
        predicted += result->total;
        total += evaluated;
    }
    EXPECT_NEAR(predicted, total, 0.03 * total);
}

}  // namespace
}  // namespace tessera::chip
