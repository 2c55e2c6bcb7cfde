#include "import/quantise/scale_search.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "import/quantise/random_weights.h"

namespace tessera::quantise {
namespace {

constexpr size_t kGroup = 32;
constexpr SearchLevels kSigned{.low = -8, .high = 7, .steps = 9, .step = 0.1F};
constexpr SearchLevels kUnsigned{.low = 0, .high = 15, .steps = 10, .step = 0.1F};

/// sum w (x - (scale q - minimum))^2 with the best q.
double error_of(const std::vector<float>& x, const std::vector<float>& w, const SearchLevels& levels,
                double scale, double minimum = 0) {
    double error = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double q = scale == 0
                             ? 0
                             : std::clamp(std::nearbyint((x[i] + minimum) / scale),
                                          static_cast<double>(levels.low), static_cast<double>(levels.high));
        error += w[i] * std::pow(x[i] - (scale * q - minimum), 2);
    }
    return error;
}

std::vector<float> group_of(uint64_t seed, float mean = 0) {
    std::vector<float> x = testing::normal_weights(kGroup, seed);
    for (float& value : x) value += mean;
    return x;
}

std::vector<float> squares(const std::vector<float>& x) {
    std::vector<float> w;
    for (const float value : x) w.push_back(value * value + 0.01F);
    return w;
}

float largest(const std::vector<float>& x) {
    return *std::max_element(x.begin(), x.end(),
                             [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// A grid that is ten times finer is better by a few percent at most; the plain formula is worse.
TEST(ScaleSearch, IsNearTheBestOfAFineGrid) {
    double found = 0, best = 0, plain = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        const std::vector<float> x = group_of(seed), w = squares(x);
        const float reach = largest(x) / -8;
        found += error_of(x, w, kSigned, search_scale(x, w, kSigned));
        plain += error_of(x, w, kSigned, reach);
        double own = INFINITY;
        for (int i = 0; i < 2000; ++i)
            own = std::min(own, error_of(x, w, kSigned, reach * (0.6 + 0.0005 * i)));
        best += own;
    }
    EXPECT_LE(found, best * 1.05);
    EXPECT_LE(found, plain * 0.9);
}

TEST(ScaleSearch, WithMinimumIsNearTheBestOfAFineGrid) {
    double found = 0, best = 0, plain = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<float> x = group_of(seed), w = squares(x);
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        const double step = (*high - *low) / 15;
        const ScaleAndMinimum at = search_scale_and_minimum(x, w, kUnsigned);
        EXPECT_GE(at.minimum, 0);
        found += error_of(x, w, kUnsigned, at.scale, at.minimum);
        plain += error_of(x, w, kUnsigned, step, -*low);
        double own = INFINITY;
        for (int i = 0; i < 100; ++i)
            for (int j = 0; j < 100; ++j)
                own = std::min(
                    own, error_of(x, w, kUnsigned, step * (0.7 + 0.005 * i), -*low * (0.7 + 0.005 * j)));
        best += own;
    }
    EXPECT_LE(found, best * 1.25);
    EXPECT_LE(found, plain * 0.9);
}

TEST(ScaleSearch, WhatTheIntegersHoldIsFoundExactly) {
    std::vector<float> x;
    for (size_t i = 0; i < kGroup; ++i) x.push_back(0.25F * static_cast<float>(static_cast<int>(i % 16) - 8));
    EXPECT_EQ(search_scale(x, squares(x), kSigned), 0.25F);
    for (float& value : x) value = value + 2 - 0.75F;  // 0.25 q - 0.75
    const ScaleAndMinimum at = search_scale_and_minimum(x, squares(x), kUnsigned);
    EXPECT_NEAR(at.scale, 0.25F, 1e-6);
    EXPECT_NEAR(at.minimum, 0.75F, 1e-5);
}

TEST(ScaleSearch, TheLargestElementDecidesTheSign) {
    std::vector<float> x = group_of(3);
    x[5] = 9;
    EXPECT_LT(search_scale(x, squares(x), kSigned), 0);
    x[5] = -9;
    EXPECT_GT(search_scale(x, squares(x), kSigned), 0);
}

TEST(ScaleSearch, GroupsWithoutRange) {
    const std::vector<float> zeros(kGroup, 0.0F), ones(kGroup, 1.0F), negative(kGroup, -3.0F);
    EXPECT_EQ(search_scale(zeros, ones, kSigned), 0);
    const ScaleAndMinimum of_zeros = search_scale_and_minimum(zeros, ones, kUnsigned);
    EXPECT_EQ(of_zeros.scale, 0);
    EXPECT_EQ(of_zeros.minimum, 0);
    for (const auto& x : {ones, negative}) {
        const ScaleAndMinimum at = search_scale_and_minimum(x, ones, kUnsigned);
        EXPECT_LT(error_of(x, ones, kUnsigned, at.scale, at.minimum), 1e-6);
    }
    EXPECT_NEAR(search_scale(ones, ones, kSigned) * -8, 1, 1e-6);
}

}  // namespace
}  // namespace tessera::quantise
