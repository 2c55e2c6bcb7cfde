#pragma once

#include "tessera/ntt/vector.h"

// Lane by lane: operators, fused multiply-add, minimum and maximum, rounding, selection, conversion.
// Operators of scalars are the language's own; the named functions exist for scalars too.

namespace tessera::ntt {

namespace detail {

template <class Out, class F, class A, class B>
[[gnu::always_inline]] inline Out join(F f, A a, B b) {
    using V = Join<A, B>;
    return map<Out>(f, as<V>(a), as<V>(b));
}

}  // namespace detail

template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator+(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x + y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator-(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x - y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator*(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x * y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator/(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x / y; }, a, b);
}
template <AnyVector V>
[[gnu::always_inline]] inline V operator-(V v) {
    return detail::map<V>([](auto x) { return -x; }, v);
}

template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B>& operator+=(A& a, B b) {
    return a = a + b;
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B>& operator-=(A& a, B b) {
    return a = a - b;
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline Join<A, B>& operator*=(A& a, B b) {
    return a = a * b;
}

/// Integer operands only.
template <class A, class B>
concept IntegerOperands = VectorOperands<A, B> && std::integral<Element<Join<A, B>>>;

template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator%(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x % y; }, a, b);
}
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator&(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x & y; }, a, b);
}
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator|(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x | y; }, a, b);
}
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator^(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x ^ y; }, a, b);
}
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator<<(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x << y; }, a, b);
}
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> operator>>(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return x >> y; }, a, b);
}

template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline MaskOf<Join<A, B>> operator==(A a, B b) {
    return detail::join<MaskOf<Join<A, B>>>([](auto x, auto y) { return x == y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline MaskOf<Join<A, B>> operator!=(A a, B b) {
    return detail::join<MaskOf<Join<A, B>>>([](auto x, auto y) { return x != y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline MaskOf<Join<A, B>> operator<(A a, B b) {
    return detail::join<MaskOf<Join<A, B>>>([](auto x, auto y) { return x < y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline MaskOf<Join<A, B>> operator<=(A a, B b) {
    return detail::join<MaskOf<Join<A, B>>>([](auto x, auto y) { return x <= y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline MaskOf<Join<A, B>> operator>(A a, B b) {
    return detail::join<MaskOf<Join<A, B>>>([](auto x, auto y) { return x > y; }, a, b);
}
template <class A, class B>
requires VectorOperands<A, B>
[[gnu::always_inline]] inline MaskOf<Join<A, B>> operator>=(A a, B b) {
    return detail::join<MaskOf<Join<A, B>>>([](auto x, auto y) { return x >= y; }, a, b);
}

/// a * b + c, rounded once where kHasFma, else twice. F32 only.
template <class A, class B, class C>
requires FloatLanes<Join<Join<A, B>, C>>
[[gnu::always_inline]] inline Join<Join<A, B>, C> fma(A a, B b, C c) {
    using V = Join<Join<A, B>, C>;
    return detail::map<V>([](auto x, auto y, auto z) { return native::fma(x, y, z); }, detail::as<V>(a),
                          detail::as<V>(b), detail::as<V>(c));
}

/// The smaller one, the first of equal ones (zeros of both signs), NaN if one is NaN.
template <class A, class B>
requires Joinable<A, B>
[[gnu::always_inline]] inline Join<A, B> min(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return native::min(x, y); }, a, b);
}

/// The larger one, the first of equal ones, NaN if one is NaN.
template <class A, class B>
requires Joinable<A, B>
[[gnu::always_inline]] inline Join<A, B> max(A a, B b) {
    return detail::join<Join<A, B>>([](auto x, auto y) { return native::max(x, y); }, a, b);
}

/// v, but at most `bound`; NaN stays. One instruction on x86, where min and max take three.
template <FloatLanes V>
[[gnu::always_inline]] inline V at_most(float bound, V v) {
    return detail::map<V>([](auto x, auto y) { return native::min_or_second(x, y); }, detail::as<V>(bound),
                          v);
}

/// v, but at least `bound`; NaN stays.
template <FloatLanes V>
[[gnu::always_inline]] inline V at_least(float bound, V v) {
    return detail::map<V>([](auto x, auto y) { return native::max_or_second(x, y); }, detail::as<V>(bound),
                          v);
}

/// The same bits as another type of the same width.
template <Scalar T, Lanewise V>
[[gnu::always_inline]] inline WithElement<V, T> reinterpret(V v) {
    static_assert(sizeof(Element<V>) == sizeof(T));
    if constexpr (Scalar<V>) {
        return __builtin_bit_cast(T, v);
    } else if constexpr (V::kIsPair) {
        return {reinterpret<T>(v.low), reinterpret<T>(v.high)};
    } else {
        return {(native::Register<T, lanes_v<V>>)v.bits};
    }
}

/// By value; from float to int towards zero (undefined beyond the range of int32_t).
template <Scalar T, Lanewise V>
[[gnu::always_inline]] inline WithElement<V, T> convert(V v) {
    if constexpr (Scalar<V>) {
        return static_cast<T>(v);
    } else if constexpr (V::kIsPair) {
        return {convert<T>(v.low), convert<T>(v.high)};
    } else {
        return {__builtin_convertvector(v.bits, native::Register<T, lanes_v<V>>)};
    }
}

namespace detail {

template <class V>
[[gnu::always_inline]] inline V pick(MaskOf<V> mask, V a, V b) {
    if constexpr (Scalar<V>) {
        return mask ? a : b;
    } else if constexpr (V::kIsPair) {
        return {pick(mask.low, a.low, b.low), pick(mask.high, a.high, b.high)};
    } else {
        return {mask.bits ? a.bits : b.bits};
    }
}

template <class M>
struct LanesOfMask {
    template <class V>
    using Like = V;
};
template <int L>
struct LanesOfMask<Mask<L>> {
    template <class V>
    using Like = Vector<Element<V>, L>;
};

}  // namespace detail

/// mask ? a : b in each lane. Under a `Mask`, scalars a and b are broadcast; a `bool` chooses whole vectors.
template <class M, class A, class B>
requires Joinable<A, B>
[[gnu::always_inline]] inline auto select(M mask, A a, B b) {
    using V = typename detail::LanesOfMask<M>::template Like<Join<A, B>>;
    if constexpr (std::same_as<M, bool>) {
        return mask ? detail::as<V>(a) : detail::as<V>(b);
    } else {
        return detail::pick<V>(mask, detail::as<V>(a), detail::as<V>(b));
    }
}

/// The sign bit cleared; for integers the magnitude.
template <Lanewise V>
[[gnu::always_inline]] inline V abs(V v) {
    if constexpr (std::same_as<Element<V>, float>) {
        return reinterpret<float>(reinterpret<int32_t>(v) & 0x7fffffff);
    } else {
        return select(v < 0, -v, v);
    }
}

/// `size` with the sign bit of `sign`; size >= 0.
template <FloatLanes V>
[[gnu::always_inline]] inline V copy_sign(V size, V sign) {
    const auto bit = reinterpret<int32_t>(sign) & INT32_MIN;
    return reinterpret<float>(reinterpret<int32_t>(size) | bit);
}

/// The nearest whole number, ties to even; infinities, NaN and the sign of zero stay.
template <FloatLanes V>
[[gnu::always_inline]] inline V round(V v) {
    // Beside 2^23 the spacing of floats is 1, so the addition rounds; larger numbers are whole already.
    constexpr float kWhole = 0x1p23f;
    const V size = abs(v);
    const V whole = (size + kWhole) - kWhole;
    return select(size < kWhole, copy_sign(whole, v), v);
}

/// Between `low` and `high`, without its fraction, as a cast to an integer type: there is one zero, and NaN
/// stays. 2^23 is exact in a float, and what is larger has no fraction.
template <FloatLanes V>
[[gnu::always_inline]] inline V saturated(float low, float high, V v) {
    constexpr float kWhole = 0x1p23f;
    const V inside = at_least(low, at_most(high, v));
    const auto has_fraction = abs(inside) < kWhole;
    const V whole = convert<float>(convert<int32_t>(select(has_fraction, inside, broadcast<V>(0.0f))));
    return select(has_fraction, whole, inside);
}

/// Division towards minus infinity, b not 0, and what remains, of the sign of b.
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> floor_div(A a, B b) {
    const auto quotient = a / b;
    const auto rest = a - quotient * b;
    return select(rest != 0, quotient + ((rest ^ b) >> 31), quotient);
}
template <class A, class B>
requires IntegerOperands<A, B>
[[gnu::always_inline]] inline Join<A, B> floor_mod(A a, B b) {
    const auto rest = a - (a / b) * b;
    return select(rest != 0, rest + (((rest ^ b) >> 31) & b), rest);
}

}  // namespace tessera::ntt
