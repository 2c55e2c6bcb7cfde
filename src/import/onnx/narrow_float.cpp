#include "import/onnx/narrow_float.h"

#include <cmath>

#include <fmt/format.h>

namespace tessera::import::onnx {
namespace {

constexpr NarrowFloat kE4M3FN{.exponent_bits = 4, .mantissa_bits = 3, .bias = 7, .largest = 448};
constexpr NarrowFloat kE4M3FNUZ{
    .exponent_bits = 4, .mantissa_bits = 3, .bias = 8, .largest = 240, .has_one_zero = true};
constexpr NarrowFloat kE5M2{
    .exponent_bits = 5, .mantissa_bits = 2, .bias = 15, .largest = 57344, .has_infinity = true};
constexpr NarrowFloat kE5M2FNUZ{
    .exponent_bits = 5, .mantissa_bits = 2, .bias = 16, .largest = 57344, .has_one_zero = true};
constexpr NarrowFloat kE2M1{
    .exponent_bits = 2, .mantissa_bits = 1, .bias = 1, .largest = 6, .has_nan = false};
constexpr NarrowFloat kE8M0{
    .exponent_bits = 8, .mantissa_bits = 0, .bias = 127, .largest = 0x1p127, .is_power = true};

/// A power of two as the notation takes it.
std::string power_text(int exponent) {
    return fmt::format("{:.17g}{}", std::ldexp(1.0, exponent), exponent >= 0 && exponent < 50 ? ".0" : "");
}

}  // namespace

std::optional<NarrowFloat> narrow_float(DataType type) {
    switch (type) {
        case DataType::kFloat8E4M3FN:
            return kE4M3FN;
        case DataType::kFloat8E4M3FNUZ:
            return kE4M3FNUZ;
        case DataType::kFloat8E5M2:
            return kE5M2;
        case DataType::kFloat8E5M2FNUZ:
            return kE5M2FNUZ;
        case DataType::kFloat4E2M1:
            return kE2M1;
        case DataType::kFloat8E8M0:
            return kE8M0;
        default:
            return std::nullopt;
    }
}

double number_of(const NarrowFloat& type, int pattern) {
    const int width = type.exponent_bits + type.mantissa_bits;
    if (type.is_power) return pattern == (1 << width) - 1 ? NAN : std::ldexp(1.0, pattern - type.bias);
    const bool is_negative = (pattern >> width & 1) != 0;
    const int rest = pattern & ((1 << width) - 1);
    if (type.has_one_zero && is_negative && rest == 0) return NAN;
    const int exponent = rest >> type.mantissa_bits, mantissa = rest & ((1 << type.mantissa_bits) - 1);
    double size = exponent == 0 ? std::ldexp(mantissa, 1 - type.bias - type.mantissa_bits)
                                : std::ldexp((1 << type.mantissa_bits) + mantissa,
                                             exponent - type.bias - type.mantissa_bits);
    if (size > type.largest) size = type.has_infinity && mantissa == 0 ? INFINITY : NAN;
    return is_negative ? -size : size;
}

/// The distance of neighbours is a power of two, which comparisons with the magnitude find.
std::string rounded_text(const NarrowFloat& type, const std::string& x, bool saturates) {
    int top = 0;
    std::frexp(type.largest, &top);
    const int least = 1 - type.bias;  // the exponent of the least normal number
    std::string step = power_text(top - 1 - type.mantissa_bits);
    for (int e = top - 1; e > least; --e)
        step = fmt::format("select(abs({}) < {}, {}, {})", x, power_text(e),
                           power_text(e - 1 - type.mantissa_bits), step);
    const std::string rounded = fmt::format("round({0} / ({1})) * ({1})", x, step);
    const std::string largest = fmt::format("{:.1f}", type.largest);
    // Half a step above the largest number is too large; the tie goes to the even one of the two.
    const double half = std::ldexp(0.5, top - 1 - type.mantissa_bits);
    const bool tie_stays =
        (static_cast<int64_t>(std::ldexp(type.largest, -(top - 1 - type.mantissa_bits))) & 1) == 0;
    const std::string beyond =
        fmt::format("abs({}) {} {:.1f}", x, tie_stays ? ">" : ">=", type.largest + half);
    const std::string sign = fmt::format("select({} < 0, -1, 1)", x);
    const std::string too_large = saturates || !type.has_nan ? fmt::format("{} * {}", sign, largest)
                                  : type.has_infinity        ? fmt::format("{} * inf", sign)
                                                             : "inf - inf";
    std::string text = fmt::format("select({0} != {0}, {4}, select({1}, {2}, {3}))", x, beyond, too_large,
                                   rounded, type.has_nan ? x : "0");
    if (type.has_one_zero) text = fmt::format("({} + 0.0)", text);
    return text;
}

}  // namespace tessera::import::onnx
