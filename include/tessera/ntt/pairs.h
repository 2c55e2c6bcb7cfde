#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/half.h"

// Pairs of bf16: a lane of 32 bits holds the numbers of two consecutive k, the even one in the lower half, as
// matrix units and dot-product instructions read them. A bf16 is the upper half of a float, so each number
// becomes one by a shift or a mask.
//
//     lane      31 ......... 16 15 .......... 0
//               number k + 1    number k          k even

namespace tessera::ntt {

/// As many pairs as V has lanes.
template <AnyVector V>
using PairsOf = WithElement<V, int32_t>;

/// The number of the even k in each lane.
template <AnyVector P>
[[gnu::always_inline]] inline WithElement<P, float> widen_even(P pairs) {
    return reinterpret<float>(pairs << 16);
}
/// The number of the odd k.
template <AnyVector P>
[[gnu::always_inline]] inline WithElement<P, float> widen_odd(P pairs) {
    return reinterpret<float>(pairs & static_cast<int32_t>(0xffff0000));
}

namespace detail {

template <AnyVector P>
[[gnu::always_inline]] inline P load_pairs(const bf16* p) {
    if constexpr (P::kIsPair) {
        using Half = typename P::Half;
        return {load_pairs<Half>(p), load_pairs<Half>(p + 2 * lanes_v<Half>)};
    } else {
        P pairs;
        __builtin_memcpy(&pairs.bits, p, sizeof pairs.bits);
        return pairs;
    }
}

}  // namespace detail

namespace native {

/// dot_add of one register.
template <class F, class I>
[[gnu::always_inline]] inline F dot_pairs(F sum, I a, I b) {
    constexpr auto kUpper = static_cast<int32_t>(0xffff0000);
    const F odd = fma(same_bits<F>(a & kUpper), same_bits<F>(b & kUpper), sum);
    return fma(same_bits<F>(a << 16), same_bits<F>(b << 16), odd);
}

}  // namespace native

/// sum + a * b over both numbers of each pair, the odd one first, each product added with one rounding to
/// nearest even. The bits are the same on every machine as long as no number, product or sum but 0 is below
/// 2^-126 in magnitude: a dot-product instruction (VDPBF16PS) takes and gives 0 there, so it may be off by
/// 2^-126 times the other factor, or by 2^-126.
template <FloatLanes V>
requires AnyVector<V>
[[gnu::always_inline]] inline V dot_add(V sum, PairsOf<V> a, PairsOf<V> b) {
    return detail::map<V>([](auto s, auto x, auto y) { return native::dot_pairs(s, x, y); }, sum, a, b);
}

}  // namespace tessera::ntt
