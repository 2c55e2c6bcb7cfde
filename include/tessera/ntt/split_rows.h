#pragma once

#include "tessera/ntt/mask.h"
#include "tessera/ntt/operands.h"
#include "tessera/ntt/split_quads.h"

// Rows of A as shorts, made once for all n, for contractions of quads that multiply shorts. Numbers of two
// bytes become one short each.

namespace tessera::ntt::detail {

/// The quads [first_quad, first_quad + quads) of row m at data + (m - first)*2*quads: the even shorts of each
/// quad, then the odd ones.
struct SplitRows {
    const int32_t* data;
    int64_t first, first_quad, quads;

    template <AnyVector V>
    [[gnu::always_inline]] QuadsOf<V> load_even(int64_t m, int64_t quad) const {
        return broadcast<QuadsOf<V>>(*at(m, quad));
    }
    template <AnyVector V>
    [[gnu::always_inline]] QuadsOf<V> load_odd(int64_t m, int64_t quad) const {
        return broadcast<QuadsOf<V>>(at(m, quad)[1]);
    }

private:
    [[gnu::always_inline]] const int32_t* at(int64_t m, int64_t quad) const {
        return data + (m - first) * (2 * quads) + 2 * (quad - first_quad);
    }
};

template <class A>
inline constexpr bool kIsSplit = std::same_as<A, SplitRows>;

/// Terms of this radix exceed a short only if the high one is -128.
inline constexpr int kLargestSplitRadix = 256;

/// True if all numbers of A are shorts, whatever their bytes.
template <class A>
inline constexpr bool kTermsAreShorts = 128 * (A::kRadix + 1) <= 32768;

/// Lane by lane one of a, then one of b: the lower half of the result, or with First = L / 2 the upper one.
template <int First, class R, int... I>
[[gnu::always_inline]] inline R interleaved(R a, R b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * int{sizeof...(I)})...);
}

/// Writes even[0], odd[0], even[1], odd[1] and so on.
template <class Q>
[[gnu::always_inline]] inline void store_interleaved(int32_t* out, SplitQuads<Q> split) {
    constexpr int L = lanes_v<Q>;
    if constexpr (L == 1) {
        store(out, split.even);
        store(out + 1, split.odd);
    } else {
        const typename CountTo<L>::Type lanes;
        store(out, Q{interleaved<0>(split.even.bits, split.odd.bits, lanes)});
        store(out + L, Q{interleaved<L / 2>(split.even.bits, split.odd.bits, lanes)});
    }
}

/// One vector of quads from A[m, k] on; true unless a number of it exceeds a short.
template <class Q, class A>
[[gnu::always_inline]] inline bool split_some(const A& a, int64_t m, int64_t k, int32_t* out) {
    SplitQuads<Q> split;
    bool fits = true;
    if constexpr (HasTerms<A>) {
        const auto high = split_signed(a.high.template load_quads<Q>(m, k));
        const auto low = split_signed(a.low.template load_quads<Q>(m, k));
        if constexpr (!kTermsAreShorts<A>) {
            const auto is_least = []<class R>(R x) {
                return native::same_bits<R>(native::same_bits<ShortsIn<R>>(x) == int16_t{-128});
            };
            fits = !any(MaskOf<Q>{map<Q>(is_least, high.even).bits | map<Q>(is_least, high.odd).bits});
        }
        split = {scaled_sum<A::kRadix>(high.even, low.even), scaled_sum<A::kRadix>(high.odd, low.odd)};
    } else {
        split = split_signed(a.template load_quads<Q>(m, k));
    }
    store_interleaved(out, split);
    return fits;
}

/// Writes the quads [begin, begin + quads) of the rows [first, first + rows) of A to `out`; false, and out
/// undefined, if a number exceeds a short.
template <class A>
[[gnu::always_inline]] inline bool split_rows(const A& a, int64_t first, int64_t rows, int64_t begin,
                                              int64_t quads, int32_t* out) {
    bool fits = true;
    for (int64_t i = 0; i < rows; ++i) {
        int32_t* row = out + i * 2 * quads;
        int64_t quad = 0;
        for (; quad + kRegisterLanes <= quads; quad += kRegisterLanes)
            fits &=
                split_some<Vector<int32_t, kRegisterLanes>>(a, first + i, 4 * (begin + quad), row + 2 * quad);
        for (; quad < quads; ++quad)
            fits &= split_some<Vector<int32_t, 1>>(a, first + i, 4 * (begin + quad), row + 2 * quad);
    }
    return fits;
}

}  // namespace tessera::ntt::detail
