#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/load_bits.h"
#include "tessera/ntt/storage.h"

// Quads of bytes: a lane of 32 bits holds the numbers of four consecutive k, as dot products of int8 read
// them. One factor has unsigned bytes, the other signed ones. A constant makes signed numbers unsigned; the
// caller takes it out of the sum again.
//
//     lane      31 ......... 24 23 ......... 16 15 .......... 8 7 ........... 0
//               number k + 3    number k + 2    number k + 1    number k          k % 4 == 0

namespace tessera::ntt {

/// As many quads as V has lanes.
template <AnyVector V>
using QuadsOf = WithElement<V, int32_t>;

namespace detail {

template <class T>
inline constexpr int kQuadBias = 0;
template <>
inline constexpr int kQuadBias<int8_t> = 128;
template <int B, bool Whole>
inline constexpr int kQuadBias<PackedBits<B, true, Whole>> = 1 << (B - 1);

/// The byte in all four places.
constexpr int32_t four_times(int byte) {
    return static_cast<int32_t>(0x01010101u * static_cast<uint32_t>(byte));
}

}  // namespace detail

/// A pointer from which quads are loaded: to bytes, or packed bits.
template <class P>
concept QuadPointer = BitPointer<P> || detail::kIsOneOf<detail::Pointee<P>, int8_t, uint8_t>;

/// The bias that load_quads adds to a number to which P points: 0 where these are unsigned, else the bias
/// that makes them so.
template <QuadPointer P>
inline constexpr int quad_bias = detail::kQuadBias<detail::Pointee<P>>;

namespace detail {

/// The fields of 2*Bits bits at the bottom of each 2*Slot bits become two of Bits bits, each at the bottom of
/// its Slot bits.
template <int Bits, int Slot, class Words>
[[gnu::always_inline]] inline Words split_fields(Words words) {
    constexpr uint64_t kField = (uint64_t{1} << Bits) - 1;
    constexpr uint64_t kLower = Slot == 32   ? kField
                                : Slot == 16 ? kField * 0x0000000100000001u
                                             : kField * 0x0001000100010001u;
    return (words & kLower) | (words << (Slot - Bits) & kLower << Slot);
}

/// The same as native::spread_quads, on any machine: eight numbers are B whole bytes. Their halves, quarters
/// and eighths move to the bottom of those of a word.
template <class Q, int B>
[[gnu::always_inline]] inline Q spread_quads(const uint8_t* p) {
    constexpr int kWords = lanes_v<Q> / 2;
    uint64_t words[kWords];
#pragma GCC unroll 64
    for (int i = 0; i < kWords; ++i) words[i] = load_word<B>(p + i * B);
    native::Register<uint64_t, kWords> fields;
    __builtin_memcpy(&fields, words, sizeof fields);
    fields = split_fields<4 * B, 32>(fields);
    fields = split_fields<2 * B, 16>(fields);
    fields = split_fields<B, 8>(fields);
    return Q{native::same_bits<native::Register<int32_t, lanes_v<Q>>>(fields)};
}

/// Machines that spread numbers of B bits over the bytes of a register R.
template <class R, int B>
concept SpreadsQuads = requires(const uint8_t* p, R like) {
    { native::spread_quads(p, std::integral_constant<int, B>{}, like) } -> std::same_as<R>;
};

}  // namespace detail

/// The 4*L numbers from p on, L the lanes of Q, each with quad_bias<P> added: lane i holds the numbers 4*i to
/// 4*i + 3. Packed bits begin with a byte, and there are at least two lanes of them. Reads nothing else.
template <AnyVector Q, QuadPointer P>
requires std::same_as<Element<Q>, int32_t>
[[gnu::always_inline]] inline Q load_quads(P p) {
    constexpr int kBias = quad_bias<P>;
    if constexpr (Q::kIsPair) {
        using Half = typename Q::Half;
        return Q{load_quads<Half>(p), load_quads<Half>(p + 4 * lanes_v<Half>)};
    } else {
        Q quads;
        if constexpr (BitPointer<P>) {
            static_assert(lanes_v<Q> >= 2, "four numbers need not be whole bytes");
            using R = decltype(quads.bits);
            if constexpr (detail::SpreadsQuads<R, P::kBits>) {
                quads.bits = native::spread_quads(p.bytes(), std::integral_constant<int, P::kBits>{}, R{});
            } else {
                quads = detail::spread_quads<Q, P::kBits>(p.bytes());
            }
        } else {
            __builtin_memcpy(&quads.bits, p, sizeof quads.bits);
        }
        // In two's complement, flipping the sign bit adds half of the range.
        if constexpr (kBias != 0) quads = quads ^ detail::four_times(kBias);
        return quads;
    }
}

namespace native {

/// Machines that add the products of adjacent shorts.
template <class Shorts, class I>
concept DotsShorts = requires(Shorts a) {
    { native::dot_shorts(a, a) } -> std::same_as<I>;
};

/// Machines that also add them to a sum.
template <class Shorts, class I>
concept AddsDotsOfShorts = requires(I sum, Shorts a) {
    { native::add_dot_shorts(sum, a, a) } -> std::same_as<I>;
};

/// Machines that add the products of the bytes of a quad.
template <class I>
concept DotsQuads = requires(I a) {
    { native::dot_quads(a, a, a) } -> std::same_as<I>;
};

}  // namespace native

namespace detail {

template <AnyVector Q>
struct RegisterOf {
    using Type = decltype(Q::bits);
};
template <AnyVector Q>
requires(Q::kIsPair) struct RegisterOf<Q> : RegisterOf<typename Q::Half> {
};
/// The registers that Q is made of.
template <AnyVector Q>
using RegisterIn = typename RegisterOf<Q>::Type;

template <class R>
using ShortsIn = native::Register<int16_t, sizeof(R) / 2>;
template <class R>
using UnsignedShortsIn = native::Register<uint16_t, sizeof(R) / 2>;

/// The numbers of even k of a register of quads, or those of odd k, as shorts.
template <class R>
[[gnu::always_inline]] inline R even_unsigned(R quads) {
    return quads & 0x00ff00ff;
}
template <class R>
[[gnu::always_inline]] inline R odd_unsigned(R quads) {
    return native::same_bits<R>(native::same_bits<UnsignedShortsIn<R>>(quads) >> 8);
}
template <class R>
[[gnu::always_inline]] inline R even_signed(R quads) {
    return native::same_bits<R>(native::same_bits<ShortsIn<R>>(quads) << 8 >> 8);
}
template <class R>
[[gnu::always_inline]] inline R odd_signed(R quads) {
    return native::same_bits<R>(native::same_bits<ShortsIn<R>>(quads) >> 8);
}

/// The sum of the products of the two shorts in each lane.
template <class R>
[[gnu::always_inline]] inline R dot_shorts(R a, R b) {
    return native::dot_shorts(native::same_bits<ShortsIn<R>>(a), native::same_bits<ShortsIn<R>>(b));
}

/// dot_add of one register.
template <class R>
[[gnu::always_inline]] inline R dot_quads(R sum, R a, R b) {
    if constexpr (native::DotsQuads<R>) {
        return native::dot_quads(sum, a, b);
    } else if constexpr (native::DotsShorts<ShortsIn<R>, R>) {
        return sum +
               (dot_shorts(even_unsigned(a), even_signed(b)) + dot_shorts(odd_unsigned(a), odd_signed(b)));
    } else {
        return sum + (((a & 0xff) * (b << 24 >> 24) + (a >> 8 & 0xff) * (b << 16 >> 24)) +
                      ((a >> 16 & 0xff) * (b << 8 >> 24) + (a >> 24 & 0xff) * (b >> 24)));
    }
}

}  // namespace detail

/// sum + a * b over the four numbers of each quad, those of `a` unsigned, those of `b` signed. Exact where
/// the result is an int32_t: nothing saturates on the way.
template <AnyVector V>
requires std::same_as<Element<V>, int32_t>
[[gnu::always_inline]] inline V dot_add(V sum, QuadsOf<V> a, QuadsOf<V> b) {
    return detail::map<V>([](auto s, auto x, auto y) { return detail::dot_quads(s, x, y); }, sum, a, b);
}

}  // namespace tessera::ntt
