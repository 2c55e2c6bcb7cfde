#pragma once

#include "tessera/ntt/bits.h"
#include "tessera/ntt/half.h"

// Numbers in memory, and reading and writing one of them. Arithmetic is F32; other types are widened when
// they are loaded and rounded when they are stored.

namespace tessera::ntt {

namespace detail {

template <class P>
struct PointeeOf {};
template <class T>
struct PointeeOf<T*> {
    using Type = std::remove_cv_t<T>;
};
template <int B, bool Signed, bool Whole>
struct PointeeOf<PackedBits<B, Signed, Whole>> {
    using Type = PackedBits<B, Signed, Whole>;
};

template <class T>
struct IsBits : std::false_type {};
template <int B, bool Signed, bool Whole>
struct IsBits<PackedBits<B, Signed, Whole>> : std::true_type {};

template <class T, class... Types>
inline constexpr bool kIsOneOf = (std::same_as<T, Types> || ...);

/// The target of P: an element type, or the Bits<> type itself.
template <class P>
using Pointee = typename PointeeOf<P>::Type;

}  // namespace detail

/// A pointer to bit-packed numbers: Bits<B>, SignedBits<B>, or the type of a sum with one of them.
template <class P>
concept BitPointer = detail::IsBits<P>::value;
/// A pointer to numbers that can be read as float.
template <class P>
concept NumberPointer = BitPointer<P> || detail::kIsOneOf < detail::Pointee<P>,
float, f16, bf16, int8_t, uint8_t, int32_t > ;
/// A pointer from which a scalar or vector V can be loaded: to elements of V, or to numbers if V is of float.
template <class P, class V>
concept SourceOf = Lanewise<V> &&
    (std::same_as<detail::Pointee<P>, Element<V>> || (std::same_as<Element<V>, float> && NumberPointer<P>));
/// A pointer to which a scalar or vector V can be stored: to elements of V, or to numbers if V is of float.
template <class P, class V>
concept TargetOf = SourceOf<P, V> && !BitPointer<P>;

/// The number as a float: exact for every type but int32_t, which is rounded to the nearest float.
template <class T>
requires(std::integral<T> || std::same_as<T, float>) [[gnu::always_inline]] constexpr float widen(T x) {
    return static_cast<float>(x);
}
[[gnu::always_inline]] inline float widen(f16 x) {
    return native::widen_f16(x.bits);
}
[[gnu::always_inline]] inline float widen(bf16 x) {
    return native::widen_bf16(x.bits);
}

/// The number as an element of type T: f16 and bf16 round to nearest even (NaN stays NaN, too large numbers
/// become infinite), integers drop the fraction and saturate (NaN becomes 0).
template <class T>
[[gnu::always_inline]] inline T narrow(float x) {
    if constexpr (std::same_as<T, float>) {
        return x;
    } else if constexpr (std::same_as<T, f16>) {
        return {native::narrow_f16(x)};
    } else if constexpr (std::same_as<T, bf16>) {
        return {native::narrow_bf16(x)};
    } else {
        return static_cast<T>(native::narrow_integer<T>(x));
    }
}

/// p[i] as a float.
template <NumberPointer P>
[[gnu::always_inline]] inline float element(P p, int64_t i) {
    return widen(p[i]);
}

/// p[i] = x, rounded as by `narrow`.
template <TargetOf<float> P>
[[gnu::always_inline]] inline void set_element(P p, int64_t i, float x) {
    p[i] = narrow<detail::Pointee<P>>(x);
}

}  // namespace tessera::ntt
