#pragma once

#include "tessera/ntt/math/exp.h"

namespace tessera::ntt {

/// The error function. At most 1.5 ulp; NaN stays.
template <FloatLanes V>
[[gnu::always_inline]] inline V erf(V x) {
    const V size = abs(x);
    // Near 0: x + x q(x^2), of |x|. q: minimax (tests/ntt/minimax.py), error 2^-30.1 of erf(x) up to 0.9376.
    const V square = x * x;
    V q = fma(0x1.60e6cep-14f, square, -0x1.ab8f2cp-11f);
    q = fma(q, square, 0x1.54ee42p-8f);
    q = fma(q, square, -0x1.b8120ap-6f);
    q = fma(q, square, 0x1.ce2e1cp-4f);
    q = fma(q, square, -0x1.812742p-2f);
    q = fma(q, square, 0x1.06eba8p-3f);
    const V near = fma(size, q, size);
    // Far from 0: 1 - exp(p(x)), p the logarithm of 1 - erf(x); error 2^-29.2 of erf(x) up to 4, beyond which
    // erf is 1.
    const V bounded = at_most(4.0f, size);
    V p = fma(0x1.96c042p-13f, bounded, -0x1.8c524ep-9f);
    p = fma(p, bounded, 0x1.6ae2c0p-6f);
    p = fma(p, bounded, -0x1.a90980p-4f);
    p = fma(p, bounded, -0x1.46552cp-1f);
    p = fma(p, bounded, -0x1.20a810p+0f);
    p = fma(p, bounded, -0x1.d31cc0p-13f);
    const V far = 1.0f - exp(p);
    return copy_sign(select(size < 0.9375f, near, far), x);
}

}  // namespace tessera::ntt
