#pragma once

#include "tessera/ntt/bits.h"
#include "tessera/ntt/half.h"

// Packed bits to vectors of float. Eight numbers are B whole bytes, so those that begin with a byte are one
// word, and each lies within two adjacent bytes: a shuffle brings these two into 16 bits of its own, one
// multiplication shifts the number to the top of them, and a shift by a constant to the bottom, with zeros or
// with its sign.
//
//     B = 3     ..222111 00000000  ->  000 at bit 0: * 2^13    111 at bit 3: * 2^10    222 at bit 6: * 2^7

namespace tessera::ntt::detail {

using Shorts = native::Register<int16_t, 8>;

/// The first `Bytes` bytes from p on as a word. Reads nothing else.
template <int Bytes>
[[gnu::always_inline]] inline uint64_t load_word(const uint8_t* p) {
    static_assert(Bytes >= 1 && Bytes <= 8);
    constexpr int kPart = Bytes == 8 ? 8 : Bytes >= 4 ? 4 : Bytes >= 2 ? 2 : 1;
    std::conditional_t<
        kPart == 8, uint64_t,
        std::conditional_t<kPart == 4, uint32_t, std::conditional_t<kPart == 2, uint16_t, uint8_t>>>
        low, high;
    __builtin_memcpy(&low, p, kPart);
    if constexpr (kPart == Bytes) {
        return low;
    } else {
        // The parts overlap, and agree there.
        __builtin_memcpy(&high, p + (Bytes - kPart), kPart);
        return low | static_cast<uint64_t>(high) << (8 * (Bytes - kPart));
    }
}

/// Eight numbers from a word that begins with the first.
template <int B, bool Signed, int... I>
[[gnu::always_inline]] inline Shorts spread_word(uint64_t word, Indices<I...>) {
    using Bytes = native::Register<uint8_t, 16>;
    using Windows = native::Register<uint16_t, 8>;
    const auto bytes = native::same_bits<Bytes>(native::Register<uint64_t, 2>{word, 0});
    // Byte j of the windows belongs to number j/2.
    const auto windows =
        native::same_bits<Windows>(__builtin_shufflevector(bytes, bytes, (I / 2 * B / 8 + I % 2)...));
    constexpr Windows kToTop = {(1 << (16 - B - 0 * B % 8)), (1 << (16 - B - 1 * B % 8)),
                                (1 << (16 - B - 2 * B % 8)), (1 << (16 - B - 3 * B % 8)),
                                (1 << (16 - B - 4 * B % 8)), (1 << (16 - B - 5 * B % 8)),
                                (1 << (16 - B - 6 * B % 8)), (1 << (16 - B - 7 * B % 8))};
    const Windows top = windows * kToTop;
    if constexpr (Signed) {
        return native::same_bits<Shorts>(top) >> (16 - B);
    } else {
        return native::same_bits<Shorts>(top >> (16 - B));
    }
}

/// The lanes [First, First + L) of eight shorts as a V of L <= 8 lanes of float.
template <class V, int First, int... I>
[[gnu::always_inline]] inline V widen_shorts(Shorts shorts, Indices<I...>) {
    if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        using Lanes = typename CountTo<lanes_v<Half>>::Type;
        return V{widen_shorts<Half, First>(shorts, Lanes{}),
                 widen_shorts<Half, First + lanes_v<Half>>(shorts, Lanes{})};
    } else {
        const auto part = __builtin_shufflevector(shorts, shorts, (First + I)...);
        return V{__builtin_convertvector(native::widen_integer(part), native::Register<float, lanes_v<V>>)};
    }
}

/// V from the words that word(first) gives: the numbers from `first` on.
template <class V, class P, int First, class F>
[[gnu::always_inline]] inline V spread_words(F word) {
    constexpr int L = lanes_v<V>;
    if constexpr (L <= 8) {
        const Shorts shorts =
            spread_word<P::kBits, P::kIsSigned>(word(Int<First>{}), typename CountTo<16>::Type{});
        return widen_shorts<V, 0>(shorts, typename CountTo<L>::Type{});
    } else if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        return V{spread_words<Half, P, First>(word), spread_words<Half, P, First + lanes_v<Half>>(word)};
    } else {
        static_assert(L == 16);
        constexpr auto kBytes = typename CountTo<16>::Type{};
        const Shorts low = spread_word<P::kBits, P::kIsSigned>(word(Int<First>{}), kBytes);
        const Shorts high = spread_word<P::kBits, P::kIsSigned>(word(Int<First + 8>{}), kBytes);
        const native::Register<int16_t, L> shorts =
            __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        return V{__builtin_convertvector(native::widen_integer(shorts), native::Register<float, L>)};
    }
}

/// Machines that bring any short of a register of eight into each of 32 places at once.
template <class Source, class Index = native::Register<short, 32>>
concept ShortsPermute = requires(Source source, Index index) {
    { native::permute_shorts(source, index) } -> std::same_as<Index>;
};

/// Sixteen numbers, 2*B bytes that begin with a byte. Lane i gets the shorts i*B/16 and the next, which hold
/// its number; shifts by a count of its own do the rest.
template <class V, class Source, class P, int... I, int... J>
[[gnu::always_inline]] inline V load_sixteen(P p, Indices<I...>, Indices<J...>) {
    constexpr int B = P::kBits;
    // The last 8 bytes are the upper half of the register, where short j is at j + 8 - B; it overlaps the
    // lower one, so two adjacent shorts are in one half.
    uint64_t low, high = 0;
    if constexpr (B <= 4) {
        low = load_word<2 * B>(p.bytes());
    } else {
        low = load_word<8>(p.bytes());
        high = load_word<8>(p.bytes() + (2 * B - 8));
    }
    const auto source = native::same_bits<Source>(native::Register<uint64_t, 2>{low, high});
    constexpr auto place = [](int first, int next) {
        return first + next + (B <= 4 || first < 3 ? 0 : 8 - B);
    };
    constexpr native::Register<short, 32> kShorts = {place(J / 2 * B / 16, J % 2)...};
    constexpr native::Register<uint32_t, 16> kToTop = {(32 - B - I * B % 16)...};
    using Unsigned = native::Register<uint32_t, 16>;
    using Signed = native::Register<int32_t, 16>;
    const auto windows = native::permute_shorts(source, kShorts);
    const Unsigned top = native::same_bits<Unsigned>(windows) << kToTop;
    const Signed numbers = P::kIsSigned ? native::same_bits<Signed>(top) >> (32 - B)
                                        : native::same_bits<Signed>(top >> (32 - B));
    return V{__builtin_convertvector(numbers, native::Register<float, lanes_v<V>>)};
}

/// The first n numbers, none if n <= 0; the other lanes hold anything.
template <class V, class P>
[[gnu::always_inline]] inline V load_bits_first(P p, int64_t n) {
    return spread_words<V, P, 0>([&](auto first) -> uint64_t {
        const int64_t rest = n - first;
        return rest > 0 ? (p + first).word(static_cast<int>(rest < 8 ? rest : 8)) : 0;
    });
}

template <class V, class P>
[[gnu::always_inline]] inline V load_bits(P p) {
    constexpr int L = lanes_v<V>;
    if (p.bit() != 0) [[unlikely]]
        return load_bits_first<V>(p, L);
    using Source = native::Register<short, 8>;
    if constexpr (L > 16) {
        using Half = typename V::Half;
        return V{load_bits<Half>(p), load_bits<Half>(p + L / 2)};
    } else if constexpr (L == 16 && ShortsPermute<Source>) {
        return load_sixteen<V, Source>(p, typename CountTo<16>::Type{}, typename CountTo<32>::Type{});
    } else {
        constexpr int kNumbers = L < 8 ? L : 8;
        return spread_words<V, P, 0>([&](auto first) {
            return load_word<(kNumbers * P::kBits + 7) / 8>(p.bytes() + first / 8 * P::kBits);
        });
    }
}

}  // namespace tessera::ntt::detail
