#include "ir/ops/experts.h"

#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "ir/interpreter.h"

namespace tessera::ops {
namespace {

const std::vector<DimSymbol> kExpertSymbols = {{"T", 1, 8}};
const ExpertShape kExpertShape{Dim("T"), 5, 3};

TensorData computed_experts(const DefinitionPtr& op, std::vector<TensorData> operands, int64_t rows) {
    verify(*op, op->name);
    operands.emplace_back();
    const auto bound = bound_extents(*op, dims_of(*op, {{"T", rows}}), op->name);
    return interpret(*op, bound, operands, op->name).at(0);
}

TEST(Experts, RanksAreAPermutationWithTheLowerNumberFirst) {
    const TensorData scores{{2, 5}, {0.5, 2, 0.5, -1, 2, 3, 3, 3, 3, 3}};
    const TensorData ranks =
        computed_experts(expert_ranks(kExpertSymbols, kExpertShape), {scores, scores}, 2);
    EXPECT_EQ(ranks.values, (std::vector<double>{2, 0, 3, 4, 1, 0, 1, 2, 3, 4}));
    const TensorData choice = computed_experts(chosen_experts(kExpertSymbols, kExpertShape), {ranks}, 2);
    EXPECT_EQ(choice.values, (std::vector<double>{1, 4, 0, 0, 1, 2}));
}

/// NaN leads to no row outside of the weights.
TEST(Experts, AlwaysChooseOne) {
    const double nan = std::nan("");
    const TensorData scores{{1, 5}, {nan, nan, 1, nan, nan}};
    const TensorData ranks =
        computed_experts(expert_ranks(kExpertSymbols, kExpertShape), {scores, scores}, 1);
    for (const double expert :
         computed_experts(chosen_experts(kExpertSymbols, kExpertShape), {ranks}, 1).values)
        EXPECT_TRUE(expert >= 0 && expert < 5) << expert;
}

TEST(Experts, SharesAddUpToOneOverThePlacesOrOverAll) {
    const TensorData scores{{1, 5}, {1, 2, 3, 4, 0}}, choice{{1, 3}, {3, 2, 1}};
    const TensorData largest = computed_experts(largest_score(kExpertSymbols, kExpertShape), {scores}, 1);
    const TensorData weights =
        computed_experts(place_weights(kExpertSymbols, kExpertShape), {choice, scores, largest}, 1);
    const TensorData of_places = computed_experts(sum_of_places(kExpertSymbols, kExpertShape), {weights}, 1);
    const TensorData of_all =
        computed_experts(sum_of_weights(kExpertSymbols, kExpertShape), {scores, largest}, 1);
    double all = 0;
    for (const double score : scores.values) all += std::exp(score - 4);
    for (const TensorData* sum : {&of_places, &of_all}) {
        const std::vector<double> shares =
            computed_experts(place_shares(kExpertSymbols, kExpertShape), {weights, *sum}, 1).values;
        const double total = sum == &of_places ? std::exp(0) + std::exp(-1) + std::exp(-2) : all;
        EXPECT_NEAR(shares[0], 1 / total, 1e-7);
        EXPECT_NEAR(shares[2], std::exp(-2) / total, 1e-7);
    }
}

TEST(Experts, MultiplyWithTheRowsOfTheChosenOnes) {
    std::mt19937 random(3);
    const auto drawn = [&](std::vector<int64_t> shape) {
        TensorData data{shape, {}};
        const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
        for (int64_t i = 0; i < count; ++i) data.values.push_back(static_cast<int>(random() % 9) - 4);
        return data;
    };
    const TensorData choice{{2, 3}, {4, 0, 2, 1, 1, 3}}, w = drawn({5 * 4, 6});
    for (const bool has_own_inputs : {false, true}) {
        const TensorData x = has_own_inputs ? drawn({2, 3, 6}) : drawn({2, 6});
        const DefinitionPtr op =
            expert_matmul(kExpertSymbols, kExpertShape, 4, 6, WeightFormat::kF32, has_own_inputs);
        const TensorData y = computed_experts(op, {choice, x, w}, 2);
        for (size_t t = 0; t < 2; ++t)
            for (size_t j = 0; j < 3; ++j)
                for (size_t n = 0; n < 4; ++n) {
                    double sum = 0;
                    const auto row = static_cast<size_t>(choice.values[t * 3 + j]) * 4 + n;
                    const size_t from = has_own_inputs ? (t * 3 + j) * 6 : t * 6;
                    for (size_t k = 0; k < 6; ++k) sum += x.values[from + k] * w.values[row * 6 + k];
                    EXPECT_EQ(y.values[(t * 3 + j) * 4 + n], sum);
                }
    }
}

}  // namespace
}  // namespace tessera::ops
