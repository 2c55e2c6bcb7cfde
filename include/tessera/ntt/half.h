#pragma once

#include "tessera/ntt/vector.h"

namespace tessera::ntt {

/// IEEE binary16, in memory only.
struct f16 {
    uint16_t bits;
};
/// The upper half of binary32, in memory only.
struct bf16 {
    uint16_t bits;
};

namespace native {

// The same text for a scalar and for a register: `U` is uint32_t or a register of it, `?:` takes the results
// of its comparisons. A machine with conversions of its own overloads widen_f16 and narrow_f16 with the same
// results, to the last bit.

template <class R>
struct LanesOf {
    static constexpr int kLanes = 0;  // a scalar
    using Unsigned = uint32_t;
    using Signed = int32_t;
    using Float = float;
    using Short = uint16_t;
};
template <class R>
requires(!std::is_arithmetic_v<R>) struct LanesOf<R> {
    static constexpr int kLanes = sizeof(R) / sizeof(R{}[0]);
    using Unsigned = Register<uint32_t, kLanes>;
    using Signed = Register<int32_t, kLanes>;
    using Float = Register<float, kLanes>;
    using Short = Register<uint16_t, kLanes>;
};

template <class To, class From>
[[gnu::always_inline]] inline To same_bits(From x) {
    return __builtin_bit_cast(To, x);
}
template <class To, class From>
[[gnu::always_inline]] inline To convert_lanes(From x) {
    if constexpr (std::is_arithmetic_v<From>) {
        return static_cast<To>(x);
    } else {
        return __builtin_convertvector(x, To);
    }
}

/// Bytes and shorts to 32 bits.
template <class R>
[[gnu::always_inline]] inline auto widen_integer(R v) {
    return convert_lanes<typename LanesOf<R>::Signed>(v);
}

/// The upper half of a float.
template <class R>
[[gnu::always_inline]] inline auto widen_bf16(R h) {
    using Lanes = LanesOf<R>;
    const auto wide = widen_integer(h);
    return same_bits<typename Lanes::Float>(same_bits<typename Lanes::Unsigned>(wide) << 16);
}

/// To nearest, ties to even; a NaN keeps the upper bits of its payload and becomes quiet.
template <class R>
[[gnu::always_inline]] inline auto narrow_bf16(R v) {
    using U = typename LanesOf<R>::Unsigned;
    const U x = same_bits<U>(v);
    const U rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
    const U quiet = (x >> 16) | 0x40;
    return convert_lanes<typename LanesOf<R>::Short>(v == v ? rounded : quiet);
}

/// narrow_bf16, but numbers below 2^-126 in magnitude may become 0.
template <class R>
[[gnu::always_inline]] inline auto narrow_bf16_or_flush(R v) {
    return narrow_bf16(v);
}

/// Exact; a NaN becomes quiet.
template <class R>
[[gnu::always_inline]] inline auto widen_f16(R h) {
    using Lanes = LanesOf<R>;
    using S = typename Lanes::Signed;
    using F = typename Lanes::Float;
    const S x = same_bits<S>(widen_integer(h));
    const S size = x & 0x7fff;
    const S normal = (size << 13) + (112 << 23);  // the exponents' biases: 127 - 15
    const S subnormal = same_bits<S>(convert_lanes<F>(size) * 0x1p-24f);
    const S infinite = (size << 13) | 0x7f800000;
    const S nan = infinite | 0x00400000;
    S r = size < 0x0400 ? subnormal : normal;
    r = size >= 0x7c00 ? infinite : r;
    r = size > 0x7c00 ? nan : r;
    return same_bits<F>(r | ((x & 0x8000) << 16));
}

/// To nearest, ties to even; from 65520 on infinity; a NaN keeps the upper bits of its payload and becomes
/// quiet.
template <class R>
[[gnu::always_inline]] inline auto narrow_f16(R v) {
    using Lanes = LanesOf<R>;
    using U = typename Lanes::Unsigned;
    using S = typename Lanes::Signed;
    using F = typename Lanes::Float;
    const S x = same_bits<S>(v);
    const S size = x & 0x7fffffff;
    // The carry of the rounding goes on into the exponent, and from the largest number into infinity. The
    // difference wraps for subnormal numbers, and is not used then.
    const U magnitude = same_bits<U>(size);
    const S normal = same_bits<S>((magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13);
    // Beside 0.5 the spacing of floats is 2^-24, that of the subnormals of binary16: the addition rounds.
    const S subnormal = same_bits<S>(same_bits<F>(size) + 0.5f) - same_bits<S>(F{} + 0.5f);
    const S nan = 0x7e00 | ((size >> 13) & 0x3ff);
    S r = size < 0x38800000 ? subnormal : normal;  // 2^-14
    r = size >= 0x47800000 ? S{} + 0x7c00 : r;     // 2^16
    r = size > 0x7f800000 ? nan : r;
    return convert_lanes<typename Lanes::Short>(r | ((x >> 16) & 0x8000));
}

/// Drops the fraction and saturates at the ends of T's range; NaN becomes 0. Gives 32-bit numbers.
template <class T, class R>
[[gnu::always_inline]] inline auto narrow_integer(R v) {
    using Lanes = LanesOf<R>;
    using S = typename Lanes::Signed;
    using F = typename Lanes::Float;
    constexpr int32_t kLow = std::is_signed_v<T> ? INT32_MIN >> (32 - 8 * sizeof(T)) : 0;
    constexpr int32_t kHigh = std::is_signed_v<T> ? ~kLow : (1 << 8 * sizeof(T)) - 1;
    // 2^31 is the first float beyond int32_t; the others end at floats.
    constexpr float kBeyond = static_cast<float>(kHigh) + (sizeof(T) < 4 ? 1.0f : 0.0f);
    const F numbers = v == v ? v : F{};
    const F inside = numbers > static_cast<float>(kLow) ? numbers : F{} + static_cast<float>(kLow);
    const S whole = convert_lanes<S>(inside < kBeyond ? inside : F{});
    return inside < kBeyond ? whole : S{} + kHigh;
}

}  // namespace native
}  // namespace tessera::ntt
