#include "chip/elk_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "chip/random_tables.h"
#include "chip/schedule_by_induction.h"

namespace tessera::chip {
namespace {

double total_of(const ScheduleProblem& problem, const std::vector<size_t>& order, double link_price) {
    const auto found = schedule_by_induction(problem, order, {.link_price = link_price});
    if (!found || !schedule_fault(problem, found->schedule).empty())
        return std::numeric_limits<double>::infinity();
    return run_schedule(problem, found->schedule).total;
}

/// Most operators preload nothing, and the SRAM is half as large again as some operator needs: here orders
/// matter.
ScheduleProblem tight(ScheduleProblem problem) {
    problem.sram_bytes = 0;
    for (size_t o = 0; o < problem.operators.size(); ++o) {
        int64_t least = INT64_MAX;
        for (Row& row : problem.operators[o].rows) {
            if (o % 3 != 0) row.preload_bytes = 0;
            if (o % 3 != 0) row.hbm = row.link_in = 0;
            least = std::min(least, std::max(row.preload_bytes, row.exec_bytes));
        }
        problem.sram_bytes = std::max(problem.sram_bytes, least * 3 / 2);
    }
    return problem;
}

std::vector<size_t> order_of_sequence(const ScheduleProblem& problem) {
    std::vector<size_t> order(problem.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
}

/// The two prices that are best for the order of the sequence.
std::vector<double> best_prices(const ScheduleProblem& problem) {
    std::vector<double> prices = {1, 0.5, 0.25, 2, 4};
    std::stable_sort(prices.begin(), prices.end(), [&](double a, double b) {
        return total_of(problem, order_of_sequence(problem), a) <
               total_of(problem, order_of_sequence(problem), b);
    });
    prices.resize(2);
    return prices;
}

// Orders that are left out, because their operators do not fit together, have no schedule.
TEST(ElkSchedule, TakesTheBestOfAllOrders) {
    size_t compared = 0, reordered = 0, pruned = 0;
    for (unsigned seed = 0; compared < 200; ++seed) {
        const ScheduleProblem problem =
            tight(RandomTables(seed).make({.most_positions = 14, .most_rows = 3, .copies = 1 + seed % 3}));
        // The heavy ones of the first layer, by the rule.
        const size_t length = problem.repeats.empty() ? problem.size() : problem.repeats[0].length;
        std::vector<size_t> heavy;
        double sum = 0;
        for (size_t i = 0; i < length; ++i) sum += static_cast<double>(least_preload(problem, i));
        for (size_t i = 0; i < length; ++i)
            if (static_cast<double>(least_preload(problem, i)) > sum / static_cast<double>(length))
                heavy.push_back(i);
        if (heavy.size() < 2 || heavy.size() > 6) continue;
        ++compared;
        double least = std::numeric_limits<double>::infinity(), in_order = least;
        const std::vector<double> prices = best_prices(problem);
        size_t all = 0;
        std::vector<size_t> permuted = heavy;
        do {
            ++all;
            std::vector<size_t> order = order_of_sequence(problem);
            for (size_t first = 0; first < problem.size(); first += length)
                for (size_t h = 0; h < heavy.size(); ++h) order[first + heavy[h]] = first + permuted[h];
            for (const double price : prices) {
                const double total = total_of(problem, order, price);
                if (permuted == heavy) in_order = std::min(in_order, total);
                least = std::min(least, total);
            }
        } while (std::next_permutation(permuted.begin(), permuted.end()));
        const auto found = elk_schedule(problem);
        ASSERT_TRUE(found) << seed;
        EXPECT_EQ(schedule_fault(problem, found->schedule), "");
        EXPECT_EQ(found->total, run_schedule(problem, found->schedule).total);
        EXPECT_DOUBLE_EQ(found->total, least) << seed;
        EXPECT_EQ(found->edit_distance > 0, least < in_order) << seed;
        EXPECT_LE(found->orders, all);
        reordered += found->edit_distance > 0 ? 1 : 0;
        pruned += found->orders < all ? 1 : 0;
    }
    EXPECT_GT(reordered, 15u);
    EXPECT_GT(pruned, 40u);
}

/// One preload size for each operator, no traffic: here the schedule of an order is optimal (appendix A of
/// paper 003), so the best order is that of the best program.
ScheduleProblem without_contention(unsigned seed, size_t positions, size_t rows, size_t fewest_heavy) {
    std::mt19937 random(seed);
    const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
    ScheduleProblem problem{.sram_bytes = 1024, .operators = {}, .sequence = {}, .repeats = {}};
    const double hbm_cycles = 0.25 * static_cast<double>(1 + below(4));
    for (size_t o = 0; o < positions; ++o) {
        // Large executes that preload nothing, and preloads of which only small ones fit beside them.
        const bool preloads = below(positions) < fewest_heavy + 1;
        const auto bytes = preloads ? static_cast<int64_t>(160 + 32 * below(16)) : 0;
        Operator made{.name = "op", .rows = {}};
        for (size_t r = 0; r < rows; ++r)
            made.rows.push_back({.preload_bytes = bytes,
                                 .exec_bytes = preloads ? bytes + static_cast<int64_t>(32 * below(5))
                                                        : static_cast<int64_t>(352 + 32 * below(16)),
                                 .compute = static_cast<double>(1 + below(preloads ? 100 : 600)),
                                 .hbm = static_cast<double>(bytes) * hbm_cycles});
        problem.operators.push_back(std::move(made));
        problem.sequence.push_back(o);
    }
    return problem;
}

/// Positions that preload more than the average, and every order of them: by brute force alone.
struct EnumeratedOrders {
    explicit EnumeratedOrders(const ScheduleProblem& problem) {
        int64_t sum = 0;
        for (const size_t o : problem.sequence) sum += problem.operators[o].rows[0].preload_bytes;
        for (size_t i = 0; i < problem.size(); ++i)
            if (problem.at(i).rows[0].preload_bytes * static_cast<int64_t>(problem.size()) > sum)
                heavy.push_back(i);
    }

    void run(const ScheduleProblem& problem) {
        std::vector<size_t> permuted = heavy;
        do {
            std::vector<size_t> order(problem.size());
            std::iota(order.begin(), order.end(), size_t{0});
            for (size_t h = 0; h < heavy.size(); ++h) order[heavy[h]] = permuted[h];
            const double total = EveryProgram(problem, order).least();
            if (permuted == heavy) in_order = total;
            valid += std::isfinite(total) ? 1 : 0;
            least = std::min(least, total);
        } while (std::next_permutation(permuted.begin(), permuted.end()));
    }

    std::vector<size_t> heavy;
    double least = std::numeric_limits<double>::infinity(), in_order = 0;
    size_t valid = 0;  ///< orders that some program has
};

struct OrderCounts {
    size_t reordered = 0, pruned = 0;
};

/// Compares the best order of so many problems with every program of every order.
OrderCounts compare_best_orders(size_t problems, size_t positions, size_t rows, size_t fewest_heavy) {
    OrderCounts counts;
    size_t compared = 0;
    for (unsigned seed = 0; compared < problems; ++seed) {
        const ScheduleProblem problem = without_contention(seed, positions, rows, fewest_heavy);
        EnumeratedOrders orders(problem);
        if (orders.heavy.size() < fewest_heavy || orders.heavy.size() > 6) continue;
        ++compared;
        orders.run(problem);
        const auto found = elk_schedule(problem);
        EXPECT_TRUE(found) << seed;
        if (!found) continue;
        EXPECT_EQ(schedule_fault(problem, found->schedule), "") << seed;
        EXPECT_NEAR(found->total, orders.least, 1e-11 * orders.least) << seed;
        EXPECT_EQ(found->edit_distance > 0, orders.least < orders.in_order * (1 - 1e-11)) << seed;
        EXPECT_GE(found->orders, orders.valid) << seed;
        size_t all = 1;
        for (size_t h = 2; h <= orders.heavy.size(); ++h) all *= h;
        counts.reordered += found->edit_distance > 0 ? 1 : 0;
        counts.pruned += found->orders < all ? 1 : 0;
    }
    return counts;
}

TEST(ElkSchedule, HasTheBestOrderOfAllPrograms) {
    const OrderCounts counts = compare_best_orders(200, 7, 1, 3);
    EXPECT_GT(counts.reordered, 15u);
    EXPECT_GT(counts.pruned, 40u);
}

// tests/thorough.txt: two plans of each operator, and all 720 orders of six.
TEST(ElkSchedule, HasTheBestOrderOfSixHeavyOperators) {
    compare_best_orders(200, 6, 2, 3);
    const OrderCounts counts = compare_best_orders(200, 8, 1, 6);
    EXPECT_GT(counts.reordered, 15u);
    EXPECT_GT(counts.pruned, 40u);
}

TEST(ElkSchedule, ConfirmsOnAllCopiesAndEndsWhenItMust) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 6, .most_rows = 3, .copies = 40});
        const auto full = elk_schedule(problem);
        ASSERT_TRUE(full);
        EXPECT_EQ(full->total, run_schedule(problem, full->schedule).total);
        size_t asked = 0;
        const auto stopped = elk_schedule(problem, {.orders = {}, .must_stop = [&] { return ++asked > 1; }});
        ASSERT_TRUE(stopped);
        EXPECT_LE(full->total, stopped->total);
        EXPECT_LE(stopped->work, full->work);
    }
}

}  // namespace
}  // namespace tessera::chip
