#include "chip/allocate_memory.h"

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
    EXPECT_EQ(allocate_memory_exactly(fronts, 60),
              (std::vector<size_t>{0, 1}));  // what greed does not go back to
    EXPECT_EQ(allocate_memory(fronts, 49), std::nullopt);
    EXPECT_EQ(allocate_memory_exactly(fronts, 49), std::nullopt);
}

TEST(AllocateMemory, IsValidAndNearTheExactOne) {
    RandomTables random(5);
    double greedy_time = 0, exact_time = 0;
    for (int round = 0; round < 300; ++round) {
        Fronts fronts;
        int64_t most = 0;
        for (size_t f = 1 + random.below(4); f > 0; --f) {
            std::vector<MemoryPoint> points;
            for (size_t k = 0; k <= random.below(5); ++k)
                points.push_back({static_cast<int64_t>(1 + random.below(100)),
                                  1.0 + static_cast<double>(random.below(50)), k});
            fronts.push_back(memory_front(points));
            most += fronts.back().front().bytes;
        }
        const auto capacity = static_cast<int64_t>(random.below(static_cast<size_t>(most) + 1));
        const auto greedy = allocate_memory(fronts, capacity),
                   exact = allocate_memory_exactly(fronts, capacity);
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

}  // namespace
}  // namespace tessera::chip
