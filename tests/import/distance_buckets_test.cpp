#include "import/distance_buckets.h"

#include <gtest/gtest.h>

namespace tessera::import {
namespace {

TEST(DistanceBuckets, SmallDistancesHaveARowEach) {
    const DistanceBuckets before{.table = "w", .farthest = 128};
    for (int64_t distance = 0; distance < 16; ++distance) EXPECT_EQ(before.row(-distance, 32), distance);
    EXPECT_EQ(before.row(5, 32), 0);
}

TEST(DistanceBuckets, LargerOnesShareRowsUpToTheFarthest) {
    const DistanceBuckets before{.table = "w", .farthest = 128};
    int64_t last = 15;
    for (int64_t distance = 16; distance < 200; ++distance) {
        const int64_t row = before.row(-distance, 32);
        EXPECT_GE(row, last);
        EXPECT_LE(row, last + 1);
        last = row;
    }
    EXPECT_EQ(last, 31);
    EXPECT_EQ(before.row(-128, 32), 31);
}

TEST(DistanceBuckets, LaterTokensHaveTheUpperHalf) {
    const DistanceBuckets both{.table = "w", .farthest = 16, .is_of_both = true};
    EXPECT_EQ(both.row(-1, 8), 1);
    EXPECT_EQ(both.row(1, 8), 5);
    EXPECT_EQ(both.row(100, 8), 7);
    EXPECT_EQ(both.row(-100, 8), 3);
}

TEST(DistanceBuckets, TheTableIsSpreadOverAllDistances) {
    const DistanceBuckets both{.table = "w", .farthest = 16, .is_of_both = true};
    const std::vector<float> rows = {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17};
    EXPECT_EQ(both.spread(rows, 8, 3), (std::vector<float>{2, 12, 1, 11, 0, 10, 5, 15, 6, 16}));
    EXPECT_EQ(both.source("t.weight"), "buckets(t.weight, 16, true)");
}

}  // namespace
}  // namespace tessera::import
