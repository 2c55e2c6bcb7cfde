#include "chip/allocate_memory.h"

#include <optional>

#include <gtest/gtest.h>

#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

using Fronts = std::vector<std::vector<MemoryPoint>>;

int64_t bytes_of(const Fronts& fronts, const std::vector<size_t>& chosen) {
    int64_t bytes = 0;
    for (size_t f = 0; f < fronts.size(); ++f) bytes += fronts[f][chosen[f]].bytes;
    return bytes;
}

double time_of(const Fronts& fronts, const std::vector<size_t>& chosen) {
    double time = 0;
    for (size_t f = 0; f < fronts.size(); ++f) time += fronts[f][chosen[f]].time;
    return time;
}

/// The exact choice, by trying everything.
std::optional<std::vector<size_t>> every_allocation(const Fronts& fronts, int64_t capacity) {
    std::vector<size_t> chosen(fronts.size(), 0), best;
    for (;;) {
        if (bytes_of(fronts, chosen) <= capacity &&
            (best.empty() || time_of(fronts, chosen) < time_of(fronts, best)))
            best = chosen;
        size_t f = 0;
        while (f < fronts.size() && ++chosen[f] == fronts[f].size()) chosen[f++] = 0;
        if (f == fronts.size()) break;
    }
    return best.empty() ? std::nullopt : std::optional(best);
}

/// The rule of the paper, step by step, from the beginning.
std::optional<std::vector<size_t>> plain_allocation(const Fronts& fronts, int64_t capacity) {
    std::vector<size_t> chosen(fronts.size(), 0);
    while (bytes_of(fronts, chosen) > capacity) {
        size_t best = fronts.size();
        double best_ratio = -1;
        for (size_t f = 0; f < fronts.size(); ++f) {
            if (chosen[f] + 1 == fronts[f].size()) continue;
            const MemoryPoint &now = fronts[f][chosen[f]], &next = fronts[f][chosen[f] + 1];
            const double ratio = static_cast<double>(now.bytes - next.bytes) / (next.time - now.time);
            if (ratio <= best_ratio) continue;
            best = f;
            best_ratio = ratio;
        }
        if (best == fronts.size()) return std::nullopt;
        ++chosen[best];
    }
    return chosen;
}

Fronts random_fronts(RandomTables& random, size_t most) {
    Fronts fronts;
    for (size_t f = 1 + random.below(most); f > 0; --f) {
        std::vector<MemoryPoint> points;
        for (size_t k = 0; k <= random.below(5); ++k)
            points.push_back({static_cast<int64_t>(1 + random.below(100)),
                              1.0 + static_cast<double>(random.below(50)), k});
        fronts.push_back(memory_front(points));
    }
    return fronts;
}

int64_t most_bytes(const Fronts& fronts) {
    return bytes_of(fronts, std::vector<size_t>(fronts.size(), 0));
}

TEST(MemoryFront, KeepsWhatNothingIsAsGoodAs) {
    EXPECT_EQ(memory_front({{10, 5, 0}, {20, 3, 1}, {15, 5, 2}, {20, 4, 3}, {30, 3, 4}}),
              (std::vector<MemoryPoint>{{20, 3, 1}, {10, 5, 0}}));
}

TEST(AllocateMemory, TakesTheMostBytesForEachCycleFirst) {
    // 10 bytes for 1 cycle, or 30 for 10.
    const Fronts fronts = {{{40, 1, 0}, {30, 2, 1}}, {{50, 1, 0}, {20, 11, 1}}};
    EXPECT_EQ(allocate_memory(fronts, 90), (std::vector<size_t>{0, 0}));
    EXPECT_EQ(allocate_memory(fronts, 80), (std::vector<size_t>{1, 0}));
    EXPECT_EQ(allocate_memory(fronts, 79), (std::vector<size_t>{1, 1}));
    EXPECT_EQ(allocate_memory(fronts, 60), (std::vector<size_t>{1, 1}));
    EXPECT_EQ(every_allocation(fronts, 60), (std::vector<size_t>{0, 1}));  // what greed does not go back to
    EXPECT_EQ(allocate_memory(fronts, 49), std::nullopt);
    EXPECT_EQ(every_allocation(fronts, 49), std::nullopt);
}

TEST(AllocateMemory, IsValidAndNearTheExactOne) {
    RandomTables random(5);
    double greedy_time = 0, exact_time = 0;
    for (int round = 0; round < 300; ++round) {
        const Fronts fronts = random_fronts(random, 4);
        const auto capacity = static_cast<int64_t>(random.below(static_cast<size_t>(most_bytes(fronts)) + 1));
        const auto greedy = allocate_memory(fronts, capacity), exact = every_allocation(fronts, capacity);
        ASSERT_EQ(greedy.has_value(), exact.has_value());
        if (!greedy) continue;
        EXPECT_LE(bytes_of(fronts, *greedy), capacity);
        EXPECT_LE(bytes_of(fronts, *exact), capacity);
        EXPECT_LE(time_of(fronts, *exact), time_of(fronts, *greedy));
        greedy_time += time_of(fronts, *greedy);
        exact_time += time_of(fronts, *exact);
    }
    EXPECT_LT(greedy_time, 1.1 * exact_time);
}

// Fronts that come later do not undo steps: each allocation is the one that begins with all of them.
TEST(AllocateMemory, GoesOnWithFurtherFronts) {
    RandomTables random(7);
    size_t fitting = 0;
    for (int round = 0; round < 1000; ++round) {
        const Fronts fronts = random_fronts(random, 8);
        MemoryAllocation allocation(
            static_cast<int64_t>(random.below(static_cast<size_t>(most_bytes(fronts)) + 1)));
        for (size_t f = 0; f < fronts.size(); ++f) {
            allocation.add(fronts[f]);
            const bool fits = allocation.fit();
            const Fronts so_far(fronts.begin(), fronts.begin() + static_cast<std::ptrdiff_t>(f) + 1);
            const auto expected = plain_allocation(so_far, allocation.capacity());
            ASSERT_EQ(fits, expected.has_value());
            if (!fits) break;
            ++fitting;
            ASSERT_EQ(allocation.chosen(), *expected) << round;
            ASSERT_EQ(allocate_memory(so_far, allocation.capacity()), expected);
        }
    }
    EXPECT_GT(fitting, 2000u);
}

}  // namespace
}  // namespace tessera::chip
