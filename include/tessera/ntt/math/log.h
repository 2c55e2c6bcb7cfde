#pragma once

#include "tessera/ntt/arithmetic.h"

namespace tessera::ntt {

/// The natural logarithm. At most 1 ulp (1.5 without FMA), denormal arguments included. log(0) = -inf,
/// log(inf) = inf, log(x) = NaN for x < 0; NaN stays.
template <FloatLanes V>
[[gnu::always_inline]] inline V log(V x) {
    // x = 2^e (1 + f) with 1 + f in [2/3, 4/3): log(x) = e ln 2 + log(1 + f),
    // log(1 + f) = f - f^2/2 + f^3 q(f).
    constexpr int32_t kTwoThirds = 0x3f2aaaab;
    const auto denormal = x < 0x1p-126f;
    const V normal = select(denormal, x * 0x1p23f, x);
    // The magnitude of negative numbers, whose result is replaced below: the integers stay in range.
    const auto bits = reinterpret<int32_t>(abs(normal));
    const auto exponent = (bits - kTwoThirds) >> 23;
    const V e = convert<float>(exponent) - select(denormal, broadcast<V>(23.0f), broadcast<V>(0.0f));
    const V f = reinterpret<float>(bits - (exponent << 23)) - 1.0f;
    // q: minimax (tests/ntt/minimax.py), error 2^-27.6 of log(1 + f).
    V q = fma(-0x1.0928d6p-3f, f, 0x1.1e91ccp-3f);
    q = fma(q, f, -0x1.f29a1ep-4f);
    q = fma(q, f, 0x1.1ecf92p-3f);
    q = fma(q, f, -0x1.55a192p-3f);
    q = fma(q, f, 0x1.99d088p-3f);
    q = fma(q, f, -0x1.fffedep-3f);
    q = fma(q, f, 0x1.555506p-2f);
    q = fma(q, f, -0.5f);
    V result = fma(e, 0x1.62e430p-1f, fma(q, f * f, f));
    result = select(x < __builtin_inff(), result, x);
    result = select(x < 0.0f, __builtin_nanf(""), result);
    return select(x == 0.0f, -__builtin_inff(), result);
}

}  // namespace tessera::ntt
