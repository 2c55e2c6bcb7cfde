#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/extraction/instance.h"

namespace tessera::extraction {
namespace {

using ::testing::ElementsAre;

ScaledCosts scaled(const std::vector<double>& costs) {
    std::vector<Node> nodes;
    for (const double cost : costs) nodes.push_back({.cost = cost});
    return scale(nodes);
}

TEST(Scale, IntegersStayAndLoseTheirCommonFactor) {
    EXPECT_THAT(scaled({0, 6, 4, -10}).costs, ElementsAre(0, 3, 2, -5));
    EXPECT_EQ(scaled({0, 6, 4, -10}).unit, 2);
    EXPECT_THAT(scaled({0, 0}).costs, ElementsAre(0, 0));
    EXPECT_THAT(scaled({}).costs, ElementsAre());
}

TEST(Scale, DecimalFractionsAreTakenAsWritten) {
    // As doubles 0.1 + 0.2 is more than 0.3.
    EXPECT_THAT(scaled({0.1, 0.2, 0.3}).costs, ElementsAre(1, 2, 3));
    EXPECT_THAT(scaled({0.001, 1}).costs, ElementsAre(1, 1000));
    EXPECT_EQ(scaled({0.1, 0.2, 0.3}).rounding, 0);
}

TEST(Scale, BinaryFractionsAreExact) {
    const std::vector<double> floats = {static_cast<double>(0.1F), static_cast<double>(3.7e-3F), 11.25};
    const ScaledCosts result = scaled(floats);
    EXPECT_EQ(result.rounding, 0);
    for (size_t i = 0; i < floats.size(); ++i)
        EXPECT_EQ(static_cast<double>(result.costs[i]) * result.unit, floats[i]);
}

TEST(Scale, WhatFitsNoGridIsRoundedAndSaysSo) {
    const std::vector<double> wild = {M_PI, M_E * 1e-13, 1e6 / 3};
    const ScaledCosts result = scaled(wild);
    EXPECT_GT(result.rounding, 0);
    EXPECT_LT(result.rounding, 1e6 * 0x1p-53);
    for (size_t i = 0; i < wild.size(); ++i)
        EXPECT_LE(std::fabs(static_cast<double>(result.costs[i]) * result.unit - wild[i]), result.rounding);
}

TEST(Scale, ExtremeCostsDoNotOverflow) {
    const ScaledCosts large = scaled({1.7e308, 1.1e308, 1e-308});
    EXPECT_GT(large.costs[0], large.costs[1]);
    EXPECT_EQ(large.costs[2], 0);
    const ScaledCosts small = scaled({5e-324, 1e-323});
    EXPECT_THAT(small.costs, ElementsAre(1, 2));
    const ScaledCosts many = scaled(std::vector<double>(1000, 9e15 + 1));
    EXPECT_THAT(many.costs.front(), 1);
}

}  // namespace
}  // namespace tessera::extraction
