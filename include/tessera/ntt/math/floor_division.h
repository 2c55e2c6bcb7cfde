#pragma once

#include "tessera/ntt/arithmetic.h"

// Division of floats towards minus infinity, and its remainder, as `//` and `%` of numbers in other
// languages. The remainder of two floats is a float, so it is found exactly, by long division with digits of
// some 20 bits:
//
//     7e20 mod 3:    7e20 - q0 * 3 * 2^40 - q1 * 3 * 2^20 - q2 * 3
//
// A digit has less than 28 bits and a divisor 24, so products and differences are exact in double.

namespace tessera::ntt {

namespace detail {

/// a - b * trunc(a / b), of the sign of a; NaN for an infinite a and for b = 0.
inline double truncated_rest(float a, float b) {
    const double divisor = b < 0 ? -double{b} : double{b};
    double rest = a < 0 ? -double{a} : double{a};
    if (!(rest < __builtin_inf()) || !(divisor > 0)) return __builtin_nan("");
    while (rest >= divisor && divisor < __builtin_inf()) {
        double step = divisor;
        while (rest / step >= 0x1p28) step *= 0x1p20;
        rest -= static_cast<double>(static_cast<int64_t>(rest / step)) * step;
    }
    return __builtin_copysign(rest, double{a});
}

/// True if the quotient of b * quotient + rest = a must be one lower, as the rest and b differ in sign.
inline bool is_rounded_up(double rest, float b) {
    return rest != 0 && (b < 0) != (rest < 0);
}

inline float floor_rest(float a, float b) {
    const double rest = truncated_rest(a, b);
    if (rest == 0) return __builtin_copysignf(0.0f, b);
    return static_cast<float>(is_rounded_up(rest, b) ? rest + double{b} : rest);
}

inline float floor_quotient(float a, float b) {
    if (b == 0) return a / b;
    constexpr double kSpacedByOne = 0x1p52;  // larger doubles are whole numbers
    const double rest = truncated_rest(a, b);
    const double quotient = (double{a} - rest) / double{b} - (is_rounded_up(rest, b) ? 1 : 0);
    const double size = __builtin_fabs(quotient);
    const double whole = size < kSpacedByOne ? size + kSpacedByOne - kSpacedByOne : size;
    return static_cast<float>(__builtin_copysign(whole, quotient));
}

template <class V, class F>
[[gnu::always_inline]] inline V by_lanes(V a, V b, F f) {
    if constexpr (Scalar<V>) {
        return f(a, b);
    } else {
        V result = a;
        for (int i = 0; i < lanes_v<V>; ++i) result.set(i, f(a[i], b[i]));
        return result;
    }
}

}  // namespace detail

/// The largest whole number of at most a / b, rounded once more if it has more than 24 bits. a / b for b = 0.
template <class A, class B>
requires FloatLanes<Join<A, B>>
inline Join<A, B> floor_div(A a, B b) {
    using V = Join<A, B>;
    return detail::by_lanes(detail::as<V>(a), detail::as<V>(b), detail::floor_quotient);
}

/// The remainder of floor_div: of the sign of b and less than it, exact but for one rounding where the signs
/// differ. NaN for b = 0.
template <class A, class B>
requires FloatLanes<Join<A, B>>
inline Join<A, B> floor_mod(A a, B b) {
    using V = Join<A, B>;
    return detail::by_lanes(detail::as<V>(a), detail::as<V>(b), detail::floor_rest);
}

}  // namespace tessera::ntt
