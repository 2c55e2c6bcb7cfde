#include "support/plot/ticks.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::plot {
namespace {

using ::testing::ElementsAre;

TEST(Ticks, AreRoundNumbersAroundTheRange) {
    EXPECT_THAT(ticks(0, 10), ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(ticks(0, 93), ElementsAre(0, 20, 40, 60, 80, 100));
    EXPECT_THAT(ticks(-3, 4), ElementsAre(-4, -2, 0, 2, 4));
    EXPECT_THAT(ticks(0, 0.3, 3), ElementsAre(0, 0.1, 0.2, ::testing::DoubleEq(0.3)));
}

TEST(Ticks, OfOneNumberAndOfNone) {
    EXPECT_THAT(ticks(0, 0, 2), ElementsAre(0, 0.5, 1));
    EXPECT_EQ(ticks(7, 7).front(), 0);
    EXPECT_GE(ticks(7, 7).back(), 7);
    EXPECT_LE(ticks(-7, -7).front(), -7);
    EXPECT_EQ(ticks(NAN, 3), ticks(0, 1));
    EXPECT_EQ(ticks(INFINITY, -INFINITY), ticks(0, 1));
}

TEST(Ticks, HoldEveryRange) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 2000; ++trial) {
        const double scale = std::pow(10, std::uniform_real_distribution(-12.0, 12.0)(random));
        const double a = std::uniform_real_distribution(-1.0, 1.0)(random) * scale;
        const double b = a + std::uniform_real_distribution(1e-3, 1.0)(random) * scale;
        const std::vector<double> all = ticks(a, b);
        const double slack = (b - a) * 1e-6;
        EXPECT_LE(all.front(), a + slack);
        EXPECT_GE(all.back(), b - slack);
        EXPECT_GE(all.size(), 2u);
        EXPECT_LE(all.size(), 9u);
    }
}

TEST(Ticks, AreWrittenShortly) {
    EXPECT_EQ(tick_text(0.25), "0.25");
    EXPECT_EQ(tick_text(1500), "1500");
    EXPECT_EQ(tick_text(0.1 + 0.2), "0.3");
    EXPECT_EQ(tick_text(-0.0), "0");
}

}  // namespace
}  // namespace tessera::plot
