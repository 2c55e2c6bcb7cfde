#include "run/grammar/number_texts.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tessera::grammar {
namespace {

/// A text of one number; what stands for its bounds and factor, too, so that comparisons are exact.
struct Hundredths {
    std::string text;
    int64_t value;
};

std::vector<Hundredths> decimals() {
    std::vector<Hundredths> all;
    for (int64_t value = -1250; value <= 1250; ++value) {
        const std::string sign = value < 0 ? "-" : "";
        const int64_t magnitude = std::abs(value);
        all.push_back({fmt::format("{}{}.{:02}", sign, magnitude / 100, magnitude % 100), value});
        if (value % 10 == 0)
            all.push_back({fmt::format("{}{}.{}", sign, magnitude / 100, magnitude % 100 / 10), value});
        if (value % 100 == 0) all.push_back({fmt::format("{}{}", sign, magnitude / 100), value});
    }
    return all;
}

Decimal hundredths(int64_t value) {
    return *decimal_of(
        fmt::format("{}{}.{:02}", value < 0 ? "-" : "", std::abs(value) / 100, std::abs(value) % 100));
}

/// Every text of two places against every bound, by brute force.
TEST(NumberTexts, AreThoseWithinTheBounds) {
    const auto texts = decimals();
    const std::vector<int64_t> bounds = {-1011, -1000, -999, -250, -101, -100, -99, -10, -1,   0,
                                         1,     9,     10,   99,   100,  101,  138, 999, 1000, 1011};
    for (const int64_t low : bounds)
        for (const int64_t high : bounds)
            for (const bool is_open : {false, true}) {
                const auto automaton = number_texts({.low = hundredths(low),
                                                     .high = hundredths(high),
                                                     .is_low_open = is_open,
                                                     .is_high_open = is_open});
                ASSERT_TRUE(automaton);
                for (const auto& [text, value] : texts) {
                    const bool is_within =
                        is_open ? low < value && value < high : low <= value && value <= high;
                    ASSERT_EQ(matches(*automaton, text), is_within)
                        << text << " " << low << " " << high << is_open;
                }
            }
}

TEST(NumberTexts, AreMultiples) {
    for (const auto& [factor, is_multiple] : std::vector<std::pair<std::string, int64_t>>{
             {"0.01", 1}, {"0.25", 25}, {"1", 100}, {"3", 300}, {"2.5", 250}, {"1.5e0", 150}}) {
        const auto automaton = number_texts({.low = hundredths(-750), .factor = decimal_of(factor)});
        ASSERT_TRUE(automaton);
        for (const auto& [text, value] : decimals())
            ASSERT_EQ(matches(*automaton, text), value >= -750 && value % is_multiple == 0)
                << text << " " << factor;
    }
    EXPECT_FALSE(number_texts({.factor = decimal_of("123457")}));
}

TEST(NumberTexts, AreWhole) {
    for (int low = -120; low <= 120; low += 7)
        for (int high = low - 5; high <= 130; high += 9) {
            const auto automaton = number_texts({.are_whole = true,
                                                 .low = decimal_of(std::to_string(low)),
                                                 .high = decimal_of(std::to_string(high))});
            ASSERT_TRUE(automaton);
            for (int i = -140; i <= 140; ++i)
                ASSERT_EQ(matches(*automaton, std::to_string(i)), low <= i && i <= high)
                    << low << " " << high << " " << i;
            for (const char* other : {"-0", "00", "1.0", "1e1", "+1", ""})
                EXPECT_FALSE(matches(*automaton, other));
        }
}

/// Numbers with an exponent come where all of their size are within.
TEST(NumberTexts, MayHaveExponents) {
    const auto any = number_texts({});
    for (const char* text : {"1e-05", "1.25e-7", "9.9e-99", "1e+16", "-2.5E+22", "-1e-30"})
        EXPECT_TRUE(matches(*any, text)) << text;
    for (const char* text :
         {"1e-04", "1e-4", "1e+15", "12e+16", "0e-05", "0.5e-05", "1e16", "1e+016", "1.e-05", "1e-005"})
        EXPECT_FALSE(matches(*any, text)) << text;
    EXPECT_FALSE(matches(*number_texts({.low = decimal_of("0.00002")}), "3e-05"));
    EXPECT_FALSE(matches(*number_texts({.high = decimal_of("1e20")}), "1e+16"));
    EXPECT_TRUE(matches(*number_texts({.high = decimal_of("1e20")}), "-1e+50"));
}

TEST(NumberTexts, KnowDecimals) {
    EXPECT_EQ(decimal_of("-1.50e3"), (Decimal{true, "15", 2}));
    EXPECT_EQ(decimal_of("0.000"), Decimal());
    EXPECT_EQ(decimal_of("-0"), Decimal());
    EXPECT_EQ(decimal_of("1e999"), std::nullopt);
    EXPECT_TRUE(compare(*decimal_of("-2"), *decimal_of("1e-300")) < 0);
    EXPECT_TRUE(compare(*decimal_of("-2"), *decimal_of("-2.0001")) > 0);
    EXPECT_TRUE(compare(*decimal_of("10"), *decimal_of("9.99")) > 0);
}

}  // namespace
}  // namespace tessera::grammar
