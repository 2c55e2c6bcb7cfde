#include "backend/scalar_c/helpers.h"

namespace tessera::backend::scalar_c {

constinit const std::string_view kHelpers = R"(#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tessera/step.h"
#include "tessera/wide.h"

#define HELPER static inline __attribute__((unused))

/* Integers; quotients are rounded down, and a rest has the sign of the divisor. */

HELPER int64_t tessera_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
HELPER int64_t tessera_mod(int64_t a, int64_t b) { return a - tessera_div(a, b) * b; }
HELPER int64_t tessera_min(int64_t a, int64_t b) { return a < b ? a : b; }
HELPER int64_t tessera_max(int64_t a, int64_t b) { return a > b ? a : b; }
HELPER int64_t tessera_abs(int64_t a) { return a < 0 ? -a : a; }

/* Types of elements; conversions round to nearest even. */

HELPER uint32_t tessera_pattern(float x) {
    uint32_t pattern;
    memcpy(&pattern, &x, sizeof pattern);
    return pattern;
}
HELPER float tessera_float(uint32_t pattern) {
    float x;
    memcpy(&x, &pattern, sizeof x);
    return x;
}
HELPER float tessera_bf16(uint16_t pattern) { return tessera_float((uint32_t)pattern << 16); }
HELPER uint16_t tessera_to_bf16(float x) {
    const uint32_t pattern = tessera_pattern(x);
    return (uint16_t)((isfinite(x) ? pattern + 0x7FFFU + (pattern >> 16 & 1U) : pattern) >> 16);
}
HELPER float tessera_f16(uint16_t pattern) {
    const uint32_t sign = (uint32_t)(pattern & 0x8000U) << 16, rest = pattern & 0x7FFFU;
    if (rest >= 0x7C00U) return tessera_float(sign | 0x7F800000U | (rest & 0x3FFU) << 13);
    if (rest >= 0x400U) return tessera_float(sign | ((rest << 13) + (112U << 23)));
    return copysignf((float)rest * 0x1p-24f, tessera_float(sign | 0x3F800000U));
}
HELPER uint16_t tessera_to_f16(float x) {
    const uint32_t sign = tessera_pattern(x) >> 16 & 0x8000U, size = tessera_pattern(x) & 0x7FFFFFFFU;
    if (size > 0x7F800000U) return (uint16_t)(sign | 0x7E00U);
    if (size >= tessera_pattern(65520.0f)) return (uint16_t)(sign | 0x7C00U);
    /* The sum has the step of the subnormals. */
    if (size < tessera_pattern(0x1p-14f))
        return (uint16_t)(sign | (tessera_pattern(tessera_float(size) + 0.5f) - tessera_pattern(0.5f)));
    return (uint16_t)(sign | (size - (112U << 23) + 0xFFFU + (size >> 13 & 1U)) >> 13);
}
/* There is one zero, and NaN stays. */
HELPER double tessera_saturated(double x, double low, double high) {
    if (isnan(x)) return x;
    x = trunc(x);
    return (x < low ? low : x > high ? high : x) + 0.0;
}
HELPER int32_t tessera_integer(double x, double low, double high) {
    return isnan(x) ? 0 : (int32_t)tessera_saturated(x, low, high);
}
/* Element `i` of a stream of `bits` each; it spans two bytes at most. */
HELPER int32_t tessera_bits(const unsigned char* stream, int bits, int64_t i) {
    const int64_t begin = i * bits;
    const int shift = (int)(begin % 8);
    unsigned pattern = stream[begin / 8];
    if (shift + bits > 8) pattern |= (unsigned)stream[begin / 8 + 1] << 8;
    return (int32_t)(pattern >> shift & ((1U << bits) - 1U));
}
HELPER int32_t tessera_signed_bits(const unsigned char* stream, int bits, int64_t i) {
    const int32_t pattern = tessera_bits(stream, bits, i);
    return pattern >> (bits - 1) ? pattern - (1 << bits) : pattern;
}
)";

}  // namespace tessera::backend::scalar_c
