#pragma once

#include "tessera/ntt/arithmetic.h"

namespace tessera::ntt {

/// The square root, correctly rounded; NaN for x < 0.
template <FloatLanes V>
[[gnu::always_inline]] inline V sqrt(V x) {
    return detail::map<V>([](auto a) { return native::sqrt(a); }, x);
}

/// 1 / sqrt(x), both steps correctly rounded: at most 1.5 ulp. rsqrt(0) = inf, rsqrt(inf) = 0; NaN for x < 0.
template <FloatLanes V>
[[gnu::always_inline]] inline V rsqrt(V x) {
    return 1.0f / sqrt(x);
}

}  // namespace tessera::ntt
