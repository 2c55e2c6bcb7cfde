#pragma once

#include "tessera/ntt/mask.h"
#include "tessera/ntt/operands.h"
#include "tessera/ntt/split_quads.h"

// Rows of A as shorts, made once for all n: what a contraction of quads reads where it multiplies shorts.
// Numbers of two bytes become one short each.

namespace tessera::ntt::detail {

/// Row m at data + (m - first)*2*quads: the even shorts of all quads, then the odd ones.
struct SplitRows {
    const int32_t* data;
    int64_t first, quads;

    template <AnyVector V>
    [[gnu::always_inline]] SplitQuads<QuadsOf<V>> load_split_quad(int64_t m, int64_t k) const {
        const int32_t* even = data + (m - first) * (2 * quads) + k / 4;
        return {broadcast<QuadsOf<V>>(even[0]), broadcast<QuadsOf<V>>(even[quads])};
    }
};

template <class A>
inline constexpr bool kIsSplit = std::same_as<A, SplitRows>;

/// Terms of this radix exceed a short only where the high one is -128.
inline constexpr int kLargestSplitRadix = 256;

/// One vector of quads from A[m, k] on; true unless a number of it is no short.
template <class Q, class A>
[[gnu::always_inline]] inline bool split_some(const A& a, int64_t m, int64_t k, int32_t* even, int32_t* odd) {
    SplitQuads<Q> split;
    bool fits = true;
    if constexpr (HasTerms<A>) {
        const auto high = split_signed(a.high.template load_quads<Q>(m, k));
        const auto low = split_signed(a.low.template load_quads<Q>(m, k));
        const auto is_least = []<class R>(R x) {
            return native::same_bits<R>(native::same_bits<ShortsIn<R>>(x) == int16_t{-128});
        };
        fits = !any(MaskOf<Q>{map<Q>(is_least, high.even).bits | map<Q>(is_least, high.odd).bits});
        split = {scaled_sum<A::kRadix>(high.even, low.even), scaled_sum<A::kRadix>(high.odd, low.odd)};
    } else {
        split = split_signed(a.template load_quads<Q>(m, k));
    }
    store(even, split.even);
    store(odd, split.odd);
    return fits;
}

/// Writes the rows [first, first + rows) of A to `out`; false, and out undefined, if a number is no short.
template <class A>
[[gnu::always_inline]] inline bool split_rows(const A& a, int64_t first, int64_t rows, int64_t quads,
                                              int32_t* out) {
    bool fits = true;
    for (int64_t i = 0; i < rows; ++i) {
        int32_t* even = out + i * 2 * quads;
        int64_t quad = 0;
        for (; quad + kRegisterLanes <= quads; quad += kRegisterLanes)
            fits &= split_some<Vector<int32_t, kRegisterLanes>>(a, first + i, 4 * quad, even + quad,
                                                                even + quads + quad);
        for (; quad < quads; ++quad)
            fits &= split_some<Vector<int32_t, 1>>(a, first + i, 4 * quad, even + quad, even + quads + quad);
    }
    return fits;
}

}  // namespace tessera::ntt::detail
