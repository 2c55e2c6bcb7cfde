#pragma once

#include "tessera/ntt/math/exp.h"

namespace tessera::ntt {

/// 1 / (1 + e^-x). At most 2.5 ulp, denormal results included; NaN stays.
template <FloatLanes V>
[[gnu::always_inline]] inline V sigmoid(V x) {
    // e^-|x| cannot overflow, so far to the left the result keeps its digits where 1 / (1 + e^-x) would be 0.
    const V t = exp(-abs(x));
    return select(x < 0.0f, t, broadcast<V>(1.0f)) / (t + 1.0f);
}

}  // namespace tessera::ntt
