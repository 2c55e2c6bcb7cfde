#include "ir/element_type.h"

#include <array>
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr std::array kAll = {ElementType::kF64,  ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                             ElementType::kI64,  ElementType::kI32, ElementType::kI16, ElementType::kI8,
                             ElementType::kU64,  ElementType::kU32, ElementType::kU16, ElementType::kU8,
                             ElementType::kBool, ElementType::kU6,  ElementType::kU5,  ElementType::kI4,
                             ElementType::kU4};

TEST(ElementType, NamesAndSizes) {
    const std::array<std::pair<std::string_view, int>, kAll.size()> expected = {{{"f64", 64},
                                                                                 {"f32", 32},
                                                                                 {"f16", 16},
                                                                                 {"bf16", 16},
                                                                                 {"i64", 64},
                                                                                 {"i32", 32},
                                                                                 {"i16", 16},
                                                                                 {"i8", 8},
                                                                                 {"u64", 64},
                                                                                 {"u32", 32},
                                                                                 {"u16", 16},
                                                                                 {"u8", 8},
                                                                                 {"bool", 8},
                                                                                 {"u6", 6},
                                                                                 {"u5", 5},
                                                                                 {"i4", 4},
                                                                                 {"u4", 4}}};
    for (size_t i = 0; i < kAll.size(); ++i) {
        EXPECT_EQ(name(kAll[i]), expected[i].first);
        EXPECT_EQ(bits(kAll[i]), expected[i].second);
        EXPECT_EQ(element_type_of(expected[i].first), kAll[i]);
    }
    EXPECT_EQ(element_type_of("f80"), std::nullopt);
    EXPECT_EQ(element_type_of(""), std::nullopt);
}

TEST(ElementType, IntegersDropTheFractionAndSaturate) {
    EXPECT_EQ(round_to(ElementType::kI8, 2.9), 2);
    EXPECT_EQ(round_to(ElementType::kI8, -2.9), -2);
    EXPECT_EQ(round_to(ElementType::kI8, 127.5), 127);
    EXPECT_EQ(round_to(ElementType::kI8, 1e9), 127);
    EXPECT_EQ(round_to(ElementType::kI8, -INFINITY), -128);
    EXPECT_EQ(round_to(ElementType::kU8, -0.5), 0);
    EXPECT_EQ(round_to(ElementType::kU8, -3), 0);
    EXPECT_EQ(round_to(ElementType::kU6, 64), 63);
    EXPECT_EQ(round_to(ElementType::kU5, 31.5), 31);
    EXPECT_EQ(round_to(ElementType::kU5, 32), 31);
    EXPECT_EQ(round_to(ElementType::kU5, -1), 0);
    EXPECT_EQ(round_to(ElementType::kI4, -9), -8);
    EXPECT_EQ(round_to(ElementType::kU4, 15.99), 15);
    EXPECT_EQ(round_to(ElementType::kI32, 2147483648.0), 2147483647);
    EXPECT_EQ(round_to(ElementType::kI32, -3e9), -2147483648.0);
    EXPECT_EQ(round_to(ElementType::kI64, 1e30), 0x1p63);
    EXPECT_EQ(round_to(ElementType::kU16, 65536), 65535);
    EXPECT_EQ(round_to(ElementType::kBool, 7), 1);
}

/// The value of a float format of 1 + exponent + fraction bits, from its definition.
double decoded(uint32_t pattern, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(pattern >> fraction_bits & ((1U << exponent_bits) - 1));
    const double fraction = std::ldexp(pattern & ((1U << fraction_bits) - 1), -fraction_bits);
    const double sign = (pattern >> (exponent_bits + fraction_bits) & 1) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * INFINITY : NAN;
    return sign *
           (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

/// Every value is kept; between two neighbours the nearer one is taken, the even pattern at the middle.
void expect_nearest_even(ElementType type, int exponent_bits, int fraction_bits) {
    const uint32_t infinity = ((1U << exponent_bits) - 1) << fraction_bits;
    for (uint32_t pattern = 0; pattern < infinity; ++pattern) {
        const double low = decoded(pattern, exponent_bits, fraction_bits);
        ASSERT_EQ(round_to(type, low), low);
        ASSERT_EQ(round_to(type, -low), -low);
        const bool is_last = pattern + 1 == infinity;
        const double high = is_last ? 2 * low - decoded(pattern - 1, exponent_bits, fraction_bits)
                                    : decoded(pattern + 1, exponent_bits, fraction_bits);
        const double above = is_last ? INFINITY : high;
        const double middle = (low + high) / 2;
        ASSERT_EQ(round_to(type, middle), pattern % 2 == 0 ? low : above) << pattern;
        // By way of f32: the next f32 beside the middle decides.
        const auto single = static_cast<float>(middle);
        if (single != middle) continue;
        ASSERT_EQ(round_to(type, std::nextafter(single, 0.0F)), low) << pattern;
        ASSERT_EQ(round_to(type, std::nextafter(single, INFINITY)), above) << pattern;
        ASSERT_EQ(round_to(type, -std::nextafter(single, INFINITY)), -above) << pattern;
    }
    EXPECT_EQ(round_to(type, INFINITY), INFINITY);
    EXPECT_TRUE(std::isnan(round_to(type, NAN)));
    EXPECT_TRUE(std::signbit(round_to(type, -0.0)));
}

TEST(ElementType, HalfRoundsToNearestEven) {
    expect_nearest_even(ElementType::kF16, 5, 10);
}

TEST(ElementType, BrainFloatRoundsToNearestEven) {
    expect_nearest_even(ElementType::kBF16, 8, 7);
}

TEST(ElementType, FloatsRoundByWayOfSingle) {
    EXPECT_EQ(round_to(ElementType::kF32, 0.1), static_cast<double>(0.1F));
    EXPECT_EQ(round_to(ElementType::kF32, 1e300), INFINITY);
    // Just above the middle of 1 and the next f16; f32 rounds it onto the middle, and the tie goes to even.
    EXPECT_EQ(round_to(ElementType::kF16, 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)), 1);
}

TEST(ElementType, ExactCastsHoldEveryValue) {
    const auto is_exact = [](std::string_view from, std::string_view to) {
        return is_exact_cast(*element_type_of(from), *element_type_of(to));
    };
    EXPECT_TRUE(is_exact("i8", "f16"));
    EXPECT_TRUE(is_exact("u8", "i32"));
    EXPECT_TRUE(is_exact("u4", "i8"));
    EXPECT_TRUE(is_exact("i4", "i8"));
    EXPECT_TRUE(is_exact("u6", "u8"));
    EXPECT_TRUE(is_exact("u5", "u6"));
    EXPECT_TRUE(is_exact("u5", "i8"));
    EXPECT_TRUE(is_exact("i32", "f32"));
    EXPECT_TRUE(is_exact("i8", "bf16"));
    EXPECT_TRUE(is_exact("bf16", "f32"));
    EXPECT_TRUE(is_exact("f16", "f16"));
    EXPECT_FALSE(is_exact("u8", "i8"));
    EXPECT_FALSE(is_exact("i8", "u8"));
    EXPECT_FALSE(is_exact("u4", "i4"));
    EXPECT_FALSE(is_exact("u5", "u4"));
    EXPECT_FALSE(is_exact("i32", "f16"));
    EXPECT_FALSE(is_exact("f32", "f16"));
    EXPECT_FALSE(is_exact("f16", "bf16"));
    EXPECT_FALSE(is_exact("f32", "i32"));
}

}  // namespace
}  // namespace tessera
