#include "chip/preload_orders.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

using Order = std::vector<size_t>;

/// All orders, of all positions.
std::vector<Order> positions_of(const ScheduleProblem& problem, const OrderOptions& options = {}) {
    const PreloadOrders orders = preload_orders(problem, options);
    std::vector<Order> all;
    for (const Order& each : orders.orders) all.push_back(positions_by_order(problem, orders, each));
    return all;
}

ScheduleProblem of_sizes(const std::vector<int64_t>& bytes, int64_t sram_bytes) {
    ScheduleProblem problem{.sram_bytes = sram_bytes, .operators = {}, .sequence = {}, .repeats = {}};
    for (const int64_t size : bytes) {
        const auto time = static_cast<double>(size);
        problem.sequence.push_back(problem.operators.size());
        problem.operators.push_back(
            {"op",
             {{.preload_bytes = size, .exec_bytes = size, .compute = 1, .hbm = time, .link_in = time}}});
    }
    return problem;
}

/// True if operators that must be held together fit: each with those that run later and are preloaded
/// earlier.
bool fits_together(const ScheduleProblem& problem, const Order& order) {
    for (size_t q = 0; q < order.size(); ++q) {
        int64_t held = 0;
        for (size_t p = 0; p <= q; ++p)
            if (order[p] >= order[q]) held += problem.at(order[p]).rows[0].preload_bytes;
        if (held > problem.sram_bytes) return false;
    }
    return true;
}

TEST(PreloadOrders, AreAllThatFit) {
    // The small ones are below the average and stay where they are.
    const ScheduleProblem problem = of_sizes({50, 60, 1, 40, 70, 1, 55}, 120);
    const std::vector<size_t> heavy = {0, 1, 3, 4, 6};
    std::set<Order> expected;
    Order permuted = heavy;
    do {
        Order order = {0, 1, 2, 3, 4, 5, 6};
        for (size_t h = 0; h < heavy.size(); ++h) order[heavy[h]] = permuted[h];
        bool fits = true;
        for (size_t q = 0; q < permuted.size(); ++q) {
            int64_t held = 0;
            for (size_t p = 0; p <= q; ++p)
                if (permuted[p] >= permuted[q]) held += problem.at(permuted[p]).rows[0].preload_bytes;
            fits = fits && held <= problem.sram_bytes;
        }
        if (fits) expected.insert(order);
    } while (std::next_permutation(permuted.begin(), permuted.end()));
    const auto found = positions_of(problem);
    EXPECT_EQ(found.front(), (Order{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(std::set<Order>(found.begin(), found.end()), expected);
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_GT(expected.size(), 5u);
    EXPECT_LT(expected.size(), 100u);
}

TEST(PreloadOrders, NoValidScheduleHasAnotherOrder) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        RandomTables random(seed);
        std::vector<int64_t> bytes;
        for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<int64_t>(100 + random.below(100)));
        const ScheduleProblem problem = of_sizes(bytes, 300);
        Order order = {0, 1, 2, 3};
        do {
            const Schedule late{.rows = {0, 0, 0, 0}, .order = order, .slots = [&] {
                                    // As late as the order allows.
                                    Order slots(4);
                                    size_t latest = 3;
                                    for (size_t q = 4; q-- > 0;)
                                        slots[order[q]] = latest = std::min(latest, order[q]);
                                    return slots;
                                }()};
            EXPECT_TRUE(!schedule_fault(problem, late).empty() || fits_together(problem, order));
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST(PreloadOrders, AreTheSameInEveryLayer) {
    ScheduleProblem problem = of_sizes({1, 50, 60, 1, 50, 60}, 200);
    problem.repeats = {{0, 3, 2}};
    EXPECT_EQ(positions_of(problem), (std::vector<Order>{{0, 1, 2, 3, 4, 5}, {0, 2, 1, 3, 5, 4}}));
    EXPECT_EQ(positions_of(problem, {.most_orders = 1}), (std::vector<Order>{{0, 1, 2, 3, 4, 5}}));
    // Operators before the layers stay there, and fewer copies have the same orders.
    problem.sequence = {0, 0, 1, 2, 0, 1, 2};
    problem.repeats = {{1, 3, 2}};
    EXPECT_EQ(positions_of(problem)[1], (Order{0, 1, 3, 2, 4, 6, 5}));
    const PreloadOrders orders = preload_orders(problem);
    problem.sequence.resize(4);
    problem.repeats = {{1, 3, 1}};
    EXPECT_EQ(positions_by_order(problem, orders, orders.orders[1]), (Order{0, 1, 3, 2}));
}

TEST(PreloadOrders, AreAllOfSix) {
    const ScheduleProblem problem = of_sizes({50, 1, 60, 40, 70, 1, 55, 45, 1}, 1000);
    const std::vector<Order> found = positions_of(problem);
    EXPECT_EQ(found.size(), 720u);
    EXPECT_EQ(std::set<Order>(found.begin(), found.end()).size(), 720u);
    // The largest of more than that.
    const PreloadOrders largest = preload_orders(of_sizes({50, 51, 52, 53, 1, 54, 55, 56, 1, 1, 1}, 1000));
    EXPECT_EQ(largest.heavy, (Order{1, 2, 3, 5, 6, 7}));
}

TEST(PreloadOrders, DistanceIsSwapsOfNeighbours) {
    EXPECT_EQ(edit_distance({0, 1, 2}), 0u);
    EXPECT_EQ(edit_distance({0, 2, 1}), 1u);
    EXPECT_EQ(edit_distance({2, 1, 0}), 3u);
}

}  // namespace
}  // namespace tessera::chip
