#include "ir/facts/value_range.h"

#include <algorithm>
#include <cmath>

namespace tessera::facts {
namespace {

// 0 * inf is 0 here: bounds are limits, and a factor that is 0 is exactly 0.
double bound_product(double a, double b) {
    return a == 0 || b == 0 ? 0 : a * b;
}

}  // namespace

ValueRange product(const ValueRange& a, const ValueRange& b) {
    const double corners[] = {bound_product(a.low, b.low), bound_product(a.low, b.high),
                              bound_product(a.high, b.low), bound_product(a.high, b.high)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4),
            a.is_integer && b.is_integer};
}

ValueRange inverse_range(const ValueRange& a) {
    if (a.low >= 0) return {a.high == 0 ? 0 : 1 / a.high, a.low == 0 ? kInf : 1 / a.low, false};
    if (a.high <= 0) return {a.high == 0 ? -kInf : 1 / a.high, 1 / a.low, false};
    return {-kInf, kInf, false};
}

ValueRange power_range(const ValueRange& base, int exponent) {
    if (exponent < 0) return inverse_range(power_range(base, -exponent));
    if (exponent % 2 != 0) {
        ValueRange result = base;
        for (int i = 1; i < exponent; ++i)
            result = {bound_product(result.low, std::abs(base.low)),
                      bound_product(result.high, std::abs(base.high)), base.is_integer};
        return result;
    }
    const double largest = std::max(std::abs(base.low), std::abs(base.high));
    const double least =
        base.low <= 0 && base.high >= 0 ? 0 : std::min(std::abs(base.low), std::abs(base.high));
    return {std::pow(least, exponent), std::pow(largest, exponent), base.is_integer};
}

ValueRange type_range(ElementType type) {
    if (!is_integer(type)) return {-kInf, kInf, false};
    const IntegerRange r = range(type);
    return {static_cast<double>(r.low), static_cast<double>(r.high), true};
}

ValueRange negated(const ValueRange& a) {
    return {-a.high, -a.low, a.is_integer};
}

// The range of a call, from the ranges of its arguments.
ValueRange call_range(Function function, std::span<const ValueRange> a) {
    switch (function) {
        case Function::kMin:
            return {std::min(a[0].low, a[1].low), std::min(a[0].high, a[1].high),
                    a[0].is_integer && a[1].is_integer};
        case Function::kMax:
            return {std::max(a[0].low, a[1].low), std::max(a[0].high, a[1].high),
                    a[0].is_integer && a[1].is_integer};
        case Function::kAbs:
            return {0, std::max(std::abs(a[0].low), std::abs(a[0].high)), a[0].is_integer};
        case Function::kRound:
            return {std::floor(a[0].low), std::ceil(a[0].high), true};
        case Function::kFloorDiv:
            if (a[1].low == a[1].high && a[1].low > 0)
                return {std::floor(a[0].low / a[1].low), std::floor(a[0].high / a[1].low), true};
            return {-kInf, kInf, true};
        case Function::kMod:
            if (a[1].low > 0) return {0, a[1].high, a[0].is_integer && a[1].is_integer};
            return {-kInf, kInf, a[0].is_integer && a[1].is_integer};
        case Function::kExp:
            return {0, kInf, false};
        case Function::kSqrt:
            return {a[0].low == kInf ? kInf : 0, kInf, false};
        case Function::kLog:
            return {a[0].low == kInf ? kInf : a[0].low >= 1 ? 0 : -kInf, kInf, false};
        case Function::kSigmoid:
            return {0, 1, false};
        case Function::kTanh:
        case Function::kErf:
            return {-1, 1, false};
        case Function::kNot:
            return {0, 1, true};
        default:
            return is_comparison(function) ? ValueRange{0, 1, true} : ValueRange{-kInf, kInf, false};
    }
}

// A comparison of `difference` with 0, if its range decides it.
std::optional<bool> decided(Function function, const ValueRange& difference) {
    const bool positive = difference.low > 0;
    const bool negative = difference.high < 0;
    const bool zero = difference.low == 0 && difference.high == 0;
    switch (function) {
        case Function::kLess:
            if (negative) return true;
            if (difference.low >= 0) return false;
            break;
        case Function::kLessEqual:
            if (difference.high <= 0) return true;
            if (positive) return false;
            break;
        case Function::kGreater:
            if (positive) return true;
            if (difference.high <= 0) return false;
            break;
        case Function::kGreaterEqual:
            if (difference.low >= 0) return true;
            if (negative) return false;
            break;
        case Function::kEqual:
            if (zero) return true;
            if (positive || negative) return false;
            break;
        case Function::kNotEqual:
            if (zero) return false;
            if (positive || negative) return true;
            break;
        default:
            break;
    }
    return std::nullopt;
}

}  // namespace tessera::facts
