#pragma once

#include <bit>

#include "tessera/ntt/arithmetic.h"

namespace tessera::ntt {

namespace detail {

/// Adding it rounds to a whole number, which then stands in the low bits of the sum.
inline constexpr float kWhole = 0x1.8p23f;

// exp(x) = 2^n exp(r), n = round(x / ln 2), r = x - n ln 2 in [-ln2/2, ln2/2], exp(r) = 1 + r + r^2 q(r).
// q: minimax (tests/ntt/minimax.py), error 2^-28.2 of exp(r).
template <class V>
[[gnu::always_inline]] inline V exp_reduced(V r) {
    V q = fma(0x1.6ab6bap-10f, r, 0x1.123d5cp-7f);
    q = fma(q, r, 0x1.55585ap-5f);
    q = fma(q, r, 0x1.55548cp-3f);
    q = fma(q, r, 0x1.fffffcp-2f);
    return fma(fma(q, r, 1.0f), r, 1.0f);
}

/// v * 2^n, rounded once, for whole n in [-150, 128]. `shifted`: n + kWhole.
template <class V>
[[gnu::always_inline]] inline V times_power_of_two(V v, V shifted, V n) {
    if constexpr (kHasScale) {
        return map<V>([](auto a, auto b) { return native::scale(a, b); }, v, n);
    } else {
        // 2^n in two factors, since n may leave the exponents of normal numbers; only the last product
        // rounds.
        const auto whole = reinterpret<int32_t>(shifted) - std::bit_cast<int32_t>(kWhole);
        const auto half = whole >> 1;
        const V scale_1 = reinterpret<float>((half + 127) << 23);
        const V scale_2 = reinterpret<float>((whole - half + 127) << 23);
        return v * scale_1 * scale_2;
    }
}

}  // namespace detail

/// e^x. At most 1 ulp (1.5 without FMA), denormal results included; exp(-inf) = 0, overflow gives inf, NaN
/// stays.
template <FloatLanes V>
[[gnu::always_inline]] inline V exp(V x) {
    // Beyond these bounds the result is 0 or inf in any case; inside them n stays in [-150, 128].
    const V bounded = at_least(-104.0f, at_most(89.0f, x));
    const V shifted = fma(bounded, 0x1.715476p+0f, detail::kWhole);
    const V n = shifted - detail::kWhole;
    V r = fma(n, -0x1.62e400p-1f, bounded);  // ln 2 in two parts; the first has 15 bits, so n * part is exact
    r = fma(n, -0x1.7f7d1cp-20f, r);
    const V p = detail::exp_reduced(r);
    return detail::times_power_of_two(p, shifted, n);
}

}  // namespace tessera::ntt
