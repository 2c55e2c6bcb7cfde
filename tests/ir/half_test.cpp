#include "ir/half.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "ir/element_type.h"

namespace tessera {
namespace {

constexpr uint32_t kPatterns = 1 << 16;

bool is_number(uint32_t pattern) {
    return (pattern & 0x7FFF) <= 0x7C00;
}

TEST(Half, EveryPatternReadsBack) {
    for (uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
        const float value = half_value(static_cast<uint16_t>(pattern));
        if (is_number(pattern)) {
            ASSERT_EQ(half_pattern(value), pattern);
            ASSERT_EQ(round_to(ElementType::kF16, value), value) << pattern;
        } else {
            ASSERT_TRUE(std::isnan(value)) << pattern;
            ASSERT_FALSE(is_number(half_pattern(value))) << pattern;
        }
    }
}

// Neighbours of F16 values, of the middle between two, and a walk through all exponents.
TEST(Half, RoundsAsTheElementTypeDoes) {
    const auto expect_rounded = [](float value) {
        ASSERT_EQ(half_value(half_pattern(value)), round_to(ElementType::kF16, value)) << value;
        ASSERT_EQ(half_value(half_pattern(-value)), -round_to(ElementType::kF16, value)) << value;
    };
    for (uint32_t pattern = 0; pattern < 0x7C00; ++pattern) {
        const float low = half_value(static_cast<uint16_t>(pattern));
        const float high = half_value(static_cast<uint16_t>(pattern + 1));
        const float middle = std::isinf(high) ? 65520.0F : (low + high) / 2;
        for (const float value : {low, middle})
            for (const float near : {std::nextafter(value, 0.0F), value, std::nextafter(value, INFINITY)})
                expect_rounded(near);
    }
    for (uint32_t bits = 1; bits < 0x7F800000U; bits += 12345) expect_rounded(std::bit_cast<float>(bits));
    EXPECT_EQ(half_pattern(INFINITY), 0x7C00);
    EXPECT_EQ(half_pattern(-0.0F), 0x8000);
}

}  // namespace
}  // namespace tessera
