#pragma once

#include "tessera/ntt/math/exp.h"

namespace tessera::ntt {

/// The hyperbolic tangent. At most 1.5 ulp; NaN stays.
template <FloatLanes V>
[[gnu::always_inline]] inline V tanh(V x) {
    const V size = abs(x);
    // Far from 0: 1 - 2 / (e^2x + 1). The difference would lose digits where tanh(x) < 1/2.
    const V far = 1.0f - 2.0f / (exp(size * 2.0f) + 1.0f);
    // Near 0: x + x^3 q(x^2). q: minimax (tests/ntt/minimax.py), error 2^-27.7 of tanh(x) up to 0.626.
    const V square = x * x;
    V q = fma(-0x1.750ce2p-8f, square, 0x1.51f8cep-6f);
    q = fma(q, square, -0x1.b835a4p-5f);
    q = fma(q, square, 0x1.1106f6p-3f);
    q = fma(q, square, -0x1.555532p-2f);
    const V near = fma(square * q, size, size);
    return copy_sign(select(size < 0.625f, near, far), x);
}

}  // namespace tessera::ntt
