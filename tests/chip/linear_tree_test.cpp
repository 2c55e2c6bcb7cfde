#include "chip/linear_tree.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace tessera::chip {
namespace {

/// Samples of a planted function with a normal error of this share.
template <typename Function>
std::vector<CostSample> planted(const Function& function, size_t count, double noise, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> error(0, 1);
    std::uniform_real_distribution<double> size(1, 200);
    std::vector<CostSample> samples;
    for (size_t s = 0; s < count; ++s) {
        CostSample sample{.inputs = {std::floor(size(random)), std::floor(size(random)), size(random)}};
        sample.cycles = function(sample.inputs) * std::max(0.5, 1 + noise * error(random));
        samples.push_back(std::move(sample));
    }
    return samples;
}

double mean_error(const LinearTree& tree, const std::vector<CostSample>& samples) {
    double sum = 0;
    for (const CostSample& sample : samples)
        sum += std::abs(predict(tree, sample.inputs) / sample.cycles - 1);
    return sum / static_cast<double>(samples.size());
}

double line(const std::vector<double>& x) {
    return 50 + 3 * x[0] + 0.5 * x[1];
}

double two_lines(const std::vector<double>& x) {
    return x[1] < 64 ? 50 + 3 * x[0] + x[2] : 400 + x[0] + 2 * x[1];
}

double four_lines(const std::vector<double>& x) {
    if (x[0] < 100) return x[2] < 50 ? 100 + x[0] : 900 + 5 * x[2];
    return x[1] < 120 ? 2000 + 4 * x[1] : 300 + 2 * x[0];
}

TEST(LinearTree, FindsALineExactly) {
    const FittedTree fitted = fit_linear_tree(planted(line, 60, 0, 1));
    ASSERT_EQ(fitted.tree.nodes.size(), 1u);
    EXPECT_NEAR(fitted.tree.nodes[0].constant, 50, 1e-3);
    EXPECT_NEAR(fitted.tree.nodes[0].slopes[0], 3, 1e-4);
    EXPECT_NEAR(fitted.tree.nodes[0].slopes[1], 0.5, 1e-4);
    EXPECT_NEAR(fitted.tree.nodes[0].slopes[2], 0, 1e-4);
    EXPECT_LT(fitted.errors.largest, 1e-4);
}

TEST(LinearTree, FindsADecision) {
    const FittedTree fitted = fit_linear_tree(planted(two_lines, 400, 0, 2));
    ASSERT_EQ(fitted.tree.leaves(), 2u);
    EXPECT_EQ(fitted.tree.nodes[0].input, 1u);
    EXPECT_NEAR(fitted.tree.nodes[0].below, 63.5, 1.01);
    EXPECT_NEAR(fitted.tree.nodes[1].slopes[0], 3, 0.05);
    EXPECT_NEAR(fitted.tree.nodes[2].slopes[1], 2, 0.05);
}

// A planted model is met within 2 %, on shapes that the fit has not seen, by noisy times.
TEST(LinearTree, RecoversPlantedModels) {
    for (unsigned seed = 0; seed < 5; ++seed) {
        for (const auto& function : {line, two_lines, four_lines}) {
            const FittedTree fitted = fit_linear_tree(planted(function, 1500, 0.01, seed));
            EXPECT_LT(mean_error(fitted.tree, planted(function, 2000, 0, seed + 100)), 0.02) << seed;
            EXPECT_LT(fitted.errors.median, 0.015);
            // Cross-validation sees the noise, so it never says less.
            EXPECT_GT(fitted.errors.mean, 0.006);
        }
    }
}

TEST(LinearTree, CrossValidationSeesWhatNoInputExplains) {
    std::mt19937 random(5);
    std::vector<CostSample> samples;
    for (int s = 0; s < 60; ++s)
        samples.push_back({{static_cast<double>(random() % 100), static_cast<double>(random() % 100)},
                           static_cast<double>(10 + random() % 1000)});
    const FittedTree fitted = fit_linear_tree(samples);
    EXPECT_GT(fitted.errors.mean, 0.3);
}

TEST(LinearTree, InputsMayFollowFromEachOther) {
    std::vector<CostSample> samples;
    for (int s = 1; s <= 40; ++s) {
        const double x = s;
        samples.push_back({{x, 2 * x, 7}, 10 + 6 * x});
    }
    const FittedTree fitted = fit_line(samples);
    EXPECT_NEAR(predict(fitted.tree, {50, 100, 7}), 310, 0.5);
    EXPECT_LT(fitted.errors.largest, 1e-3);
}

}  // namespace
}  // namespace tessera::chip
