#pragma once

#include "tessera/ntt/quads.h"

// Quads for machines that multiply bytes but add only pairs of the products, as shorts that saturate
// (VPMADDUBSW and no VPDPBUSD). If the unsigned factor has few bits, a short has room for the sums of several
// quads, which then become an int32_t together: half the instructions of products of shorts (split_quads.h),
// for signed factors of one byte.
//
//     quad        k + 3      k + 2      k + 1      k        bytes
//     sums      k + 3 and k + 2       k + 1 and k           shorts

namespace tessera::ntt {

namespace native {

/// Machines that add the products of neighbouring bytes, unsigned ones and signed ones, as shorts.
template <class I>
concept DotsBytePairs = requires(I a) {
    { native::dot_byte_pairs(a, a) } -> std::same_as<I>;
};

}  // namespace native

namespace detail {

/// The number of quads whose sums fit a short, if the unsigned factor has this many bits and the signed one
/// is any byte.
template <int Bits>
inline constexpr int kQuadsInShorts = 32767 / (2 * 128 * ((1 << Bits) - 1));

/// True if products of quads are summed as shorts: several at a time, or it would save nothing.
template <AnyVector Q, int Bits, class R = RegisterIn<Q>>
inline constexpr bool kSumsBytes =
    native::DotsBytePairs<R> && !native::DotsQuads<R> && (kQuadsInShorts<Bits> > 1);

}  // namespace detail

/// shorts + a * b, added by neighbours. Exact for kQuadsInShorts such sums, beginning with 0.
template <AnyVector V>
requires std::same_as<Element<V>, int32_t>
[[gnu::always_inline]] inline V add_byte_pairs(V shorts, QuadsOf<V> a, QuadsOf<V> b) {
    return detail::map<V>(
        []<class R>(R s, R x, R y) {
            using Shorts = detail::ShortsIn<R>;
            return native::same_bits<R>(native::same_bits<Shorts>(s) +
                                        native::same_bits<Shorts>(native::dot_byte_pairs(x, y)));
        },
        shorts, a, b);
}

/// sum + the two shorts of each lane.
template <AnyVector V>
requires std::same_as<Element<V>, int32_t>
[[gnu::always_inline]] inline V add_shorts(V sum, V shorts) {
    return detail::map<V>([]<class R>(R s, R x) { return s + detail::dot_shorts(x, R{} + 0x00010001); }, sum,
                          shorts);
}

}  // namespace tessera::ntt
