#include "ir/half.h"

#include <bit>

// An F16 is sign, 5 bits of exponent with bias 15, 10 of fraction; an F32 has 8 with bias 127, and 23.

namespace tessera {
namespace {

constexpr uint32_t kSign = 0x80000000U;
constexpr uint32_t kInfinity = 0x7F800000U;
constexpr uint32_t kBiasDifference = (127U - 15U) << 23;

}  // namespace

float half_value(uint16_t pattern) {
    const uint32_t sign = uint32_t{pattern} << 16 & kSign;
    const uint32_t rest = pattern & 0x7FFFU;
    if (rest >= 0x7C00U) return std::bit_cast<float>(sign | kInfinity | (rest & 0x3FFU) << 13);
    if (rest >= 0x400U) return std::bit_cast<float>(sign | ((rest << 13) + kBiasDifference));
    const float magnitude = static_cast<float>(rest) * 0x1p-24F;  // subnormal: multiples of 2^-24
    return sign != 0 ? -magnitude : magnitude;
}

uint16_t half_pattern(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
    const uint32_t magnitude = bits & ~kSign;
    if (magnitude > kInfinity) return static_cast<uint16_t>(sign | 0x7E00U);
    if (magnitude >= std::bit_cast<uint32_t>(65520.0F)) return static_cast<uint16_t>(sign | 0x7C00U);
    if (magnitude < std::bit_cast<uint32_t>(0x1p-14F)) {
        // The sum has a step of 2^-24, that of the subnormals: the addition rounds.
        const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<uint16_t>(sign |
                                     (std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(0.5F)));
    }
    const uint32_t rounded = magnitude - kBiasDifference + 0xFFFU + (magnitude >> 13 & 1);
    return static_cast<uint16_t>(sign | rounded >> 13);
}

}  // namespace tessera
