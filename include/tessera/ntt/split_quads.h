#pragma once

#include "tessera/ntt/quads.h"

// Quads for machines that multiply shorts but not bytes (VPMADDWD and no VPDPBUSD): the numbers of even k
// and those of odd k as shorts, two in each lane. One factor is of unsigned bytes as before; the other may be
// any shorts, so numbers of two bytes cost as much as numbers of one.
//
//     quad        k + 3      k + 2      k + 1      k        bytes
//     even              k + 2                 k             shorts
//     odd               k + 3                 k + 1

namespace tessera::ntt {

template <AnyVector Q>
struct SplitQuads {
    Q even, odd;
};

namespace detail {

/// True if dot_add of quads is made of products of shorts.
template <AnyVector Q, class R = RegisterIn<Q>>
inline constexpr bool kSplitsQuads = native::DotsShorts<ShortsIn<R>, R> && !native::DotsQuads<R>;

/// True if one operation adds dot products of shorts to a sum.
template <AnyVector Q, class R = RegisterIn<Q>>
inline constexpr bool kAddsSplitDots = native::AddsDotsOfShorts<ShortsIn<R>, R>;

template <AnyVector Q>
[[gnu::always_inline]] inline SplitQuads<Q> split_unsigned(Q quads) {
    return {map<Q>([](auto x) { return even_unsigned(x); }, quads),
            map<Q>([](auto x) { return odd_unsigned(x); }, quads)};
}
template <AnyVector Q>
[[gnu::always_inline]] inline SplitQuads<Q> split_signed(Q quads) {
    return {map<Q>([](auto x) { return even_signed(x); }, quads),
            map<Q>([](auto x) { return odd_signed(x); }, quads)};
}

/// a * Radix + b, short by short.
template <int Radix, AnyVector Q>
[[gnu::always_inline]] inline Q scaled_sum(Q a, Q b) {
    return map<Q>(
        []<class R>(R x, R y) {
            using Unsigned = UnsignedShortsIn<R>;  // sums beyond a short wrap
            return native::same_bits<R>(native::same_bits<Unsigned>(x) * uint16_t{Radix} +
                                        native::same_bits<Unsigned>(y));
        },
        a, b);
}

/// Machines that load numbers of B bits as even and odd shorts into registers R.
template <class R, int B>
concept LoadsSplitBits = requires(const uint8_t* p, R& odd) {
    { native::load_split(p, std::integral_constant<int, B>{}, odd) } -> std::same_as<R>;
};

}  // namespace detail

/// The quads of load_quads, split.
template <AnyVector Q, QuadPointer P>
requires std::same_as<Element<Q>, int32_t>
[[gnu::always_inline]] inline SplitQuads<Q> load_split_quads(P p) {
    if constexpr (Q::kIsPair) {
        using Half = typename Q::Half;
        const auto low = load_split_quads<Half>(p), high = load_split_quads<Half>(p + 4 * lanes_v<Half>);
        return {Q{low.even, high.even}, Q{low.odd, high.odd}};
    } else if constexpr (BitPointer<P>) {
        using R = decltype(Q::bits);
        if constexpr (detail::LoadsSplitBits<R, P::kBits>) {
            SplitQuads<Q> split;
            split.even.bits =
                native::load_split(p.bytes(), std::integral_constant<int, P::kBits>{}, split.odd.bits);
            if constexpr (constexpr int kBias = quad_bias<P> * 0x00010001; kBias != 0) {
                split.even = split.even ^ kBias;
                split.odd = split.odd ^ kBias;
            }
            return split;
        } else {
            return detail::split_unsigned(load_quads<Q>(p));
        }
    } else {
        return detail::split_unsigned(load_quads<Q>(p));
    }
}

/// sum + a * b over the two shorts of each lane, by one operation.
template <AnyVector V>
requires std::same_as<Element<V>, int32_t>
[[gnu::always_inline]] inline V dot_add_shorts(V sum, QuadsOf<V> a, QuadsOf<V> b) {
    return detail::map<V>(
        []<class R>(R s, R x, R y) {
            using Shorts = detail::ShortsIn<R>;
            return native::add_dot_shorts(s, native::same_bits<Shorts>(x), native::same_bits<Shorts>(y));
        },
        sum, a, b);
}

/// sum + a * b over the four numbers of each quad. Exact where the result is an int32_t and no number of `a`
/// is -32768.
template <AnyVector V>
requires std::same_as<Element<V>, int32_t>
[[gnu::always_inline]] inline V dot_add(V sum, SplitQuads<V> a, SplitQuads<V> b) {
    return detail::map<V>(
        [](auto s, auto a_even, auto b_even, auto a_odd, auto b_odd) {
            return s + (detail::dot_shorts(a_even, b_even) + detail::dot_shorts(a_odd, b_odd));
        },
        sum, a.even, b.even, a.odd, b.odd);
}

}  // namespace tessera::ntt
