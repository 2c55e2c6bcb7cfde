#include "import/quantise/quantise_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

#include "import/quantise/random_weights.h"
#include "ir/half.h"

namespace tessera::quantise {
namespace {

using ops::WeightFormat;

OperandBytes quantised(WeightFormat format, const std::vector<float>& x, int workers = 1) {
    return quantise_rows(
        format, x.size(),
        [&](size_t first, std::span<float> to) {
            std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
        },
        workers);
}

/// Element `index` of an operand, bit by bit.
double element(const OperandBytes& all, WeightFormat format, size_t operand, size_t index) {
    const ElementType type = ops::info(format).operands[operand].type;
    const auto width = static_cast<size_t>(bits(type));
    uint32_t pattern = 0;
    for (size_t j = 0; j < width; ++j) {
        const size_t bit = index * width + j;
        pattern |= (static_cast<uint32_t>(all[operand][bit / 8]) >> bit % 8 & 1) << j;
    }
    if (type == ElementType::kF16) return half_value(static_cast<uint16_t>(pattern));
    return type == ElementType::kI8 ? static_cast<int8_t>(pattern) : static_cast<double>(pattern);
}

/// The value expressions of the formats, written once more.
std::vector<double> values(const OperandBytes& all, WeightFormat format, size_t count) {
    const auto operands = ops::info(format).operands;
    std::vector<double> x;
    for (size_t i = 0; i < count; ++i) {
        const auto at = [&](size_t operand) {
            return element(all, format, operand, i / static_cast<size_t>(operands[operand].block));
        };
        switch (format) {
            case WeightFormat::kQ8_0:
                x.push_back(at(0) * at(1));
                break;
            case WeightFormat::kQ4_0:
                x.push_back((at(0) - 8) * at(1));
                break;
            case WeightFormat::kQ5_0:
                x.push_back((at(0) - 16) * at(1));
                break;
            case WeightFormat::kQ4_1:
            case WeightFormat::kQ5_1:
                x.push_back(at(0) * at(1) + at(2));
                break;
            case WeightFormat::kQ4_K:
            case WeightFormat::kQ5_K:
                x.push_back(at(0) * at(1) * at(3) - at(2) * at(4));
                break;
            default:
                x.push_back((at(0) - 32) * at(1) * at(2));
        }
    }
    return x;
}

struct Reference {
    WeightFormat format;
    double error;  ///< root mean square of ggml's reference quantisation, of 2^20 normal weights
};

// Measured with ggml_quantize_chunk of llama.cpp (2026-10) without an importance matrix.
constexpr Reference kReferences[] = {{WeightFormat::kQ8_0, 0.005347}, {WeightFormat::kQ4_0, 0.085872},
                                     {WeightFormat::kQ4_1, 0.078150}, {WeightFormat::kQ5_0, 0.042638},
                                     {WeightFormat::kQ5_1, 0.037793}, {WeightFormat::kQ4_K, 0.071264},
                                     {WeightFormat::kQ5_K, 0.036080}, {WeightFormat::kQ6_K, 0.017725}};

class Quantise : public ::testing::TestWithParam<Reference> {
protected:
    static double error_of(const std::vector<float>& x, const std::vector<double>& y) {
        double squares = 0;
        for (size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
        return std::sqrt(squares / static_cast<double>(x.size()));
    }
    std::vector<double> round_trip(const std::vector<float>& x) const {
        return values(quantised(GetParam().format, x), GetParam().format, x.size());
    }
};

TEST_P(Quantise, IsAsGoodAsTheReference) {
    const std::vector<float> x = testing::normal_weights(size_t{1} << 17, 1);
    const double error = error_of(x, round_trip(x));
    EXPECT_LE(error, 1.02 * GetParam().error) << "ratio " << error / GetParam().error;
    EXPECT_GE(error, 0.5 * GetParam().error) << "more than the bits hold";
}

TEST_P(Quantise, ScaledWeightsAreQuantisedAlike) {
    std::vector<float> x = testing::normal_weights(4096, 2);
    const double error = error_of(x, round_trip(x));
    for (float& value : x) value *= 0.03125F;
    EXPECT_NEAR(error_of(x, round_trip(x)) / 0.03125, error, 0.02 * error);
}

TEST_P(Quantise, ZerosStayZeros) {
    for (const double value : round_trip(std::vector<float>(512, 0.0F))) EXPECT_EQ(value, 0);
}

TEST_P(Quantise, OneLargeElementIsKept) {
    std::vector<float> x(256, 0.0F);
    for (const float large : {100.0F, -100.0F}) {
        x[77] = large;
        EXPECT_NEAR(round_trip(x)[77], large, 0.08 * 100);
    }
}

TEST_P(Quantise, LargestAndSmallestWeightsGiveNumbers) {
    for (const float scale : {1e-30F, 1e-7F, 16000.0F}) {
        std::vector<float> x = testing::normal_weights(512, 3);
        for (float& value : x) value = std::clamp(value, -4.0F, 4.0F) * scale;
        for (const double value : round_trip(x)) ASSERT_TRUE(std::isfinite(value)) << scale;
    }
}

TEST_P(Quantise, WorkersChangeNothing) {
    const std::vector<float> x = testing::normal_weights(256 * 7, 4);
    const OperandBytes alone = quantised(GetParam().format, x, 1);
    for (const int workers : {2, 3, 64}) EXPECT_EQ(quantised(GetParam().format, x, workers), alone);
}

INSTANTIATE_TEST_SUITE_P(All, Quantise, ::testing::ValuesIn(kReferences), [](const auto& instance) {
    return std::string(ops::info(instance.param.format).name);
});

TEST(QuantiseRows, WhatReadingThrowsIsThrown) {
    const auto read = [](size_t first, std::span<float>) {
        if (first >= 512) throw std::runtime_error("damage");
    };
    EXPECT_THROW(quantise_rows(WeightFormat::kQ8_0, 1024, read, 2), std::runtime_error);
}

}  // namespace
}  // namespace tessera::quantise
