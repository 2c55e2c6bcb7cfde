#pragma once

#include "tessera/ntt/operands.h"

// Pairs of k of a B whose numbers do not lie in pairs, such as keys and values in a cache: two rows of it are
// laid into each other as they are read, once for all rows of A in one block, or into memory, once for all.

namespace tessera::ntt {

namespace native {

/// a[0], b[0], a[1], b[1], ...: each pair one lane of 32 bits.
template <class P, class R, int... I>
[[gnu::always_inline]] inline P interleave(R a, R b, detail::Indices<I...>) {
    constexpr int kLanes = sizeof...(I) / 2;
    return same_bits<P>(__builtin_shufflevector(a, b, (I / 2 + I % 2 * kLanes)...));
}

}  // namespace native

namespace detail {

/// As many pairs as P has lanes: the numbers from `even` on in the lower halves, those from `odd` on in the
/// upper ones.
template <AnyVector P>
[[gnu::always_inline]] inline P interleave(const bf16* even, const bf16* odd) {
    if constexpr (P::kIsPair) {
        using Half = typename P::Half;
        constexpr int kLanes = lanes_v<Half>;
        return {interleave<Half>(even, odd), interleave<Half>(even + kLanes, odd + kLanes)};
    } else {
        constexpr int kLanes = lanes_v<P>;
        native::Register<uint16_t, kLanes> a, b;
        __builtin_memcpy(&a, even, sizeof a);
        __builtin_memcpy(&b, odd, sizeof b);
        return P{native::interleave<decltype(P{}.bits)>(a, b, typename CountTo<2 * kLanes>::Type{})};
    }
}

}  // namespace detail

/// The pairs of a B of bf16 that says where the lanes of each k lie.
template <class B>
struct PairedLanes {
    B lanes;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] PairsOf<V> load_pairs(int64_t group, int64_t pair, Count count) const {
        const bf16* even = lanes.address(group, 2 * pair);
        const bf16* odd = lanes.address(group, 2 * pair + 1);
        if constexpr (kIsWhole<V, Count>) {
            return detail::interleave<PairsOf<V>>(even, odd);
        } else {
            bf16 valid[2][lanes_v<V>] = {};
            detail::copy_first<sizeof valid[0]>(valid[0], even, count * 2);
            detail::copy_first<sizeof valid[1]>(valid[1], odd, count * 2);
            return detail::interleave<PairsOf<V>>(valid[0], valid[1]);
        }
    }
    /// The last pair of an odd K: its second number is 0, and is not read.
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] PairsOf<V> load_single(int64_t group, int64_t pair, Count count) const {
        constexpr bf16 kNothing[lanes_v<V>] = {};
        bf16 valid[lanes_v<V>] = {};
        detail::copy_first<sizeof valid>(valid, lanes.address(group, 2 * pair), count * 2);
        return detail::interleave<PairsOf<V>>(valid, kNothing);
    }
};

/// A B of bf16 that does not lie in pairs, and of which pairs can be made.
template <class B, class V>
concept PairableLanes = LanesOperand<B, V> && requires(const B& b, int64_t i) {
    { b.address(i, i) } -> std::convertible_to<const bf16*>;
};

namespace detail {

template <class B>
inline constexpr bool kMakesPairs = false;
template <class B>
inline constexpr bool kMakesPairs<PairedLanes<B>> = true;

/// Lays the pairs of the k in [begin, end), begin even, of NR groups into memory, `[NR][pairs][L][2]`. Lanes
/// from `count` on and k from `end` on are 0 and are not read.
template <int NR, AnyVector V, class B, Extent Count>
[[gnu::always_inline]] inline void lay_pairs(const PairedLanes<B>& b, int64_t group, Count count,
                                             int64_t begin, int64_t end, int64_t pairs, bf16* out) {
    const auto lay = [&](int64_t pair, auto pairs_of) __attribute__((always_inline)) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j)
            store(reinterpret_cast<int32_t*>(out + (j * pairs + pair) * 2 * lanes_v<V>), pairs_of(j));
    };
    const int64_t first = begin / 2, whole = end / 2 - first;
    int64_t pair = 0;
    for (; pair < whole; ++pair)
        lay(
            pair, [&](int j) __attribute__((always_inline)) {
                return b.template load_pairs<V>(group + j, first + pair, count);
            });
    if (end % 2 != 0) {
        lay(
            pair++, [&](int j) __attribute__((always_inline)) {
                return b.template load_single<V>(group + j, first + whole, count);
            });
    }
    for (; pair < pairs; ++pair) lay(pair, [](int) { return broadcast<PairsOf<V>>(0); });
}

}  // namespace detail

}  // namespace tessera::ntt
