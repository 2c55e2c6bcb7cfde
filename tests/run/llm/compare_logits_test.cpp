#include "run/llm/compare_logits.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::llm {
namespace {

TEST(LogitsComparison, EqualRows) {
    LogitsComparison comparison(3);
    const std::vector<float> row = {1, -2, 3};
    comparison.add(row, row);
    comparison.add(row, row);
    EXPECT_EQ(comparison.rows(), 2);
    EXPECT_EQ(comparison.worst_error(), 0);
    EXPECT_EQ(comparison.range(), 5);
    EXPECT_EQ(comparison.top1_agreements(), 2);
    EXPECT_EQ(comparison.worst_divergence(), 0);
}

TEST(LogitsComparison, TheRangeIsThatOfAllRows) {
    LogitsComparison comparison(2);
    comparison.add(std::vector<float>{0, 1}, std::vector<float>{0.5F, 1});
    EXPECT_EQ(comparison.worst_error(), 0.5);
    comparison.add(std::vector<float>{-4, 6}, std::vector<float>{-4, 6.25F});
    EXPECT_EQ(comparison.range(), 10);
    EXPECT_EQ(comparison.worst_error(), 0.05);
    EXPECT_EQ(comparison.worst_element(), "row 0, token 0: 0.5, expected 0");
}

TEST(LogitsComparison, DivergenceOfTwoCoins) {
    LogitsComparison comparison(2);
    // p = (1/2, 1/2), q = (1/5, 4/5), whatever is added to the logits.
    comparison.add(std::vector<float>{7, 7}, std::vector<float>{100, 100 + std::log(4.0F)});
    const double expected = 0.5 * std::log(0.5 / 0.2) + 0.5 * std::log(0.5 / 0.8);
    EXPECT_NEAR(comparison.worst_divergence(), expected, 1e-5);
    comparison.add(std::vector<float>{1, 1}, std::vector<float>{1, 1});
    EXPECT_NEAR(comparison.mean_divergence(), expected / 2, 1e-5);
    EXPECT_EQ(comparison.top1_agreements(), 1);
}

TEST(LogitsComparison, WhatIsNotANumberIsInfinitelyFar) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        LogitsComparison comparison(2);
        comparison.add(std::vector<float>{1, 2}, std::vector<float>{1, bad});
        EXPECT_EQ(comparison.worst_error(), std::numeric_limits<double>::infinity());
        EXPECT_EQ(comparison.worst_divergence(), std::numeric_limits<double>::infinity());
    }
}

TEST(LogitsComparison, ConstantExpectationsAllowNoDifference) {
    LogitsComparison comparison(2);
    comparison.add(std::vector<float>{1, 1}, std::vector<float>{1, 1});
    EXPECT_EQ(comparison.worst_error(), 0);
    comparison.add(std::vector<float>{1, 1}, std::vector<float>{1, 1.5F});
    EXPECT_EQ(comparison.worst_error(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tessera::llm
