#include "lowering/movement/stored_element.h"

#include <cmath>
#include <cstring>

#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr int kHalfFraction = 10, kHalfBias = 15;

uint32_t single_pattern(float value) {
    uint32_t pattern = 0;
    std::memcpy(&pattern, &value, sizeof(pattern));
    return pattern;
}

uint32_t half_pattern(double value) {
    const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (std::isnan(magnitude)) return sign | 0x7E00;
    if (std::isinf(magnitude)) return sign | 0x7C00;
    if (magnitude < std::ldexp(1.0, 1 - kHalfBias))  // subnormal
        return sign | static_cast<uint32_t>(std::ldexp(magnitude, kHalfBias - 1 + kHalfFraction));
    const int exponent = std::ilogb(magnitude);
    const auto significand = static_cast<uint32_t>(std::ldexp(magnitude, kHalfFraction - exponent));
    return sign | static_cast<uint32_t>(exponent + kHalfBias) << kHalfFraction | (significand & 0x3FF);
}

double half_value(uint32_t pattern) {
    const uint32_t exponent = pattern >> kHalfFraction & 31, fraction = pattern & 0x3FF;
    const double sign = pattern & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : NAN;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - kHalfBias - kHalfFraction);
    return sign * std::ldexp(1024 + fraction, static_cast<int>(exponent) - kHalfBias - kHalfFraction);
}

uint32_t pattern_of(ElementType type, double value) {
    TESSERA_CHECK(std::isnan(value) || round_to(type, value) == value, "{} as {}", value, name(type));
    if (is_integer(type)) return static_cast<uint32_t>(static_cast<int64_t>(value));
    if (type == ElementType::kF16) return half_pattern(value);
    const uint32_t single = single_pattern(static_cast<float>(value));
    return type == ElementType::kBF16 ? single >> 16 : single;
}

}  // namespace

void put_element(unsigned char* to, ElementType type, int64_t at, double value) {
    const uint32_t pattern = pattern_of(type, value);
    for (int i = 0; i < bits(type); ++i) {
        const int64_t bit = at * bits(type) + i;
        const auto mask = static_cast<unsigned char>(1U << bit % 8);
        to[bit / 8] = static_cast<unsigned char>(pattern >> i & 1 ? to[bit / 8] | mask : to[bit / 8] & ~mask);
    }
}

double get_element(const unsigned char* from, ElementType type, int64_t at) {
    uint32_t pattern = 0;
    for (int i = 0; i < bits(type); ++i) {
        const int64_t bit = at * bits(type) + i;
        pattern |= static_cast<uint32_t>(from[bit / 8] >> bit % 8 & 1) << i;
    }
    if (is_integer(type)) {
        const bool is_negative = range(type).low < 0 && pattern >> (bits(type) - 1) & 1;
        return static_cast<double>(pattern) - (is_negative ? std::ldexp(1.0, bits(type)) : 0);
    }
    if (type == ElementType::kF16) return half_value(pattern);
    if (type == ElementType::kBF16) pattern <<= 16;
    float value = 0;
    std::memcpy(&value, &pattern, sizeof(value));
    return value;
}

}  // namespace tessera::testing
