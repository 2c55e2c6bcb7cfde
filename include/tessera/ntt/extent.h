#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tessera::ntt {

/// An extent, stride or offset known at compile time: the value lives in the type. Sums, differences and
/// products of two constants are constants again; a constant meets run-time numbers as an ordinary int64_t
/// (paper 000, 3.3.2).
template <int64_t N>
struct Int {
    static constexpr int64_t value = N;
    constexpr operator int64_t() const { return N; }
};

template <int64_t A, int64_t B>
constexpr Int<A + B> operator+(Int<A>, Int<B>) {
    return {};
}
template <int64_t A, int64_t B>
constexpr Int<A - B> operator-(Int<A>, Int<B>) {
    return {};
}
template <int64_t A, int64_t B>
constexpr Int<A * B> operator*(Int<A>, Int<B>) {
    return {};
}

template <class T>
struct IsStatic : std::false_type {};
template <int64_t N>
struct IsStatic<Int<N>> : std::true_type {};

/// True for `Int<N>` only.
template <class T>
inline constexpr bool kIsStatic = IsStatic<T>::value;

/// A type that may stand for an extent: a constant, or any integral number, which is kept as int64_t.
template <class T>
concept Extent = kIsStatic<T> || std::integral<T>;

template <Extent E>
using StoredExtent = std::conditional_t<kIsStatic<E>, E, int64_t>;

/// ceil(a / b) for a >= 0, b > 0.
template <int64_t A, int64_t B>
constexpr Int<(A + B - 1) / B> ceil_div(Int<A>, Int<B>) {
    return {};
}
constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/// Division towards minus infinity, b not 0: `div` of an access map.
template <std::integral T>
constexpr T floor_div(T a, T b) {
    const T rest = a % b;
    return static_cast<T>(a / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0));
}

/// The remainder of floor_div, with the sign of b: `mod` of an access map.
template <std::integral T>
constexpr T floor_mod(T a, T b) {
    const T rest = a % b;
    return static_cast<T>(rest + (rest != 0 && (rest < 0) != (b < 0) ? b : 0));
}

}  // namespace tessera::ntt
