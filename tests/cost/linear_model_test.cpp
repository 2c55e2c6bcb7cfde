#include "cost/linear_model.h"

#include <gtest/gtest.h>

namespace tessera::cost {
namespace {

TEST(LinearModel, FindsTheWeightsThatMadeTheTimes) {
    const double a = 3e-9, b = 5e-10;
    std::vector<Observation> observations;
    for (const double x : {1.0, 10.0, 200.0}) {
        for (const double y : {0.0, 7.0, 500.0}) observations.push_back({{x, y, 0}, a * x + b * y});
    }
    const std::vector<double> weights = fit(observations);
    ASSERT_EQ(weights.size(), 3U);
    EXPECT_NEAR(weights[0], a, 1e-15);
    EXPECT_NEAR(weights[1], b, 1e-15);
    EXPECT_EQ(weights[2], 0);  // never occurs
}

TEST(LinearModel, NothingTakesLessThanNoTime) {
    // The second would have weight -1 if it might.
    const std::vector<double> weights = fit({{{2, 1}, 1.0}, {{4, 1}, 3.0}, {{6, 1}, 5.0}});
    EXPECT_GT(weights[0], 0);
    EXPECT_EQ(weights[1], 0);
}

}  // namespace
}  // namespace tessera::cost
