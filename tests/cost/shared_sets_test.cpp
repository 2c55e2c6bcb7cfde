// Caches of 64 sets: a line in every one of them is a way of 4 KiB.
#include "cost/shared_sets.h"

#include <gtest/gtest.h>

namespace tessera::cost {
namespace {

constexpr int64_t kLine = 64, kEightWays = 32 << 10, kTwelveWays = 48 << 10;

TEST(SharedSets, PiecesAPageApartShareTheirs) {
    EXPECT_FALSE(exceed_shared_sets(12, 4096, kLine, kTwelveWays, kLine));
    EXPECT_TRUE(exceed_shared_sets(13, 4096, kLine, kTwelveWays, kLine));
    EXPECT_TRUE(exceed_shared_sets(12, 4096, kLine, kEightWays, kLine));
    EXPECT_TRUE(exceed_shared_sets(13, 8192, 2 * kLine, kTwelveWays, kLine)) << "two sets";
    EXPECT_FALSE(exceed_shared_sets(12, 8192, 2 * kLine, kTwelveWays, kLine));
}

TEST(SharedSets, OtherDistancesReachMoreOfThem) {
    EXPECT_FALSE(exceed_shared_sets(24, 2048, kLine, kTwelveWays, kLine)) << "every 32nd set";
    EXPECT_TRUE(exceed_shared_sets(25, 2048, kLine, kTwelveWays, kLine));
    EXPECT_FALSE(exceed_shared_sets(10'000, 4096 + kLine, kLine, kTwelveWays, kLine)) << "all, in turns";
    EXPECT_FALSE(exceed_shared_sets(10'000, 4096, 4096, kTwelveWays, kLine)) << "all, each piece";
    EXPECT_FALSE(exceed_shared_sets(10'000, 100, kLine, kTwelveWays, kLine)) << "between lines";
}

}  // namespace
}  // namespace tessera::cost
