#pragma once

#include "tessera/ntt/arithmetic.h"

// Lanes of 64 bits, for integers that may be too large for a Vector<int32_t, L>: positions times large
// factors, comparisons with numbers beyond 2^31. Nothing but correct: lane by lane, by way of memory.

namespace tessera::ntt {

template <int L>
struct Integers {
    int64_t lanes[L];
};

namespace detail {

template <int L>
[[gnu::always_inline]] inline Integers<L> as_integers(Integers<L> v) {
    return v;
}
template <int L>
[[gnu::always_inline]] inline Integers<L> as_integers(int64_t x) {
    Integers<L> v;
    for (int i = 0; i < L; ++i) v.lanes[i] = x;
    return v;
}

template <class A, class B>
struct IntegerLanes {};
template <int L>
struct IntegerLanes<Integers<L>, Integers<L>> {
    static constexpr int kLanes = L;
};
template <int L, std::integral S>
struct IntegerLanes<Integers<L>, S> {
    static constexpr int kLanes = L;
};
template <int L, std::integral S>
struct IntegerLanes<S, Integers<L>> {
    static constexpr int kLanes = L;
};

/// At least one has lanes, and a scalar counts for all of them.
template <class A, class B>
concept WideOperands = requires {
    {IntegerLanes<A, B>::kLanes};
};

template <class A, class B, class F>
[[gnu::always_inline]] inline auto map_integers(A a, B b, F f) {
    constexpr int L = IntegerLanes<A, B>::kLanes;
    const Integers<L> x = as_integers<L>(a), y = as_integers<L>(b);
    Integers<L> result;
    for (int i = 0; i < L; ++i) result.lanes[i] = f(x.lanes[i], y.lanes[i]);
    return result;
}

template <class A, class B, class F>
[[gnu::always_inline]] inline auto compare_integers(A a, B b, F f) {
    const auto truths = map_integers(a, b, [&](int64_t x, int64_t y) { return int64_t{f(x, y)}; });
    return convert<int32_t>(truths) != 0;
}

}  // namespace detail

/// first, first + step, ..
template <int L>
[[gnu::always_inline]] inline Integers<L> count_from(int64_t first, int64_t step) {
    Integers<L> v;
    for (int i = 0; i < L; ++i) v.lanes[i] = first + i * step;
    return v;
}

/// The nearest floats; to int32_t for numbers that fit.
template <Scalar T, int L>
[[gnu::always_inline]] inline Vector<T, L> convert(Integers<L> v) {
    Vector<T, L> result = broadcast<Vector<T, L>>(T{});
    for (int i = 0; i < L; ++i) result.set(i, static_cast<T>(v.lanes[i]));
    return result;
}

template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator+(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return x + y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator-(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return x - y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator*(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return x * y; });
}
template <int L>
[[gnu::always_inline]] inline Integers<L> operator-(Integers<L> v) {
    return 0 - v;
}

template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator==(A a, B b) {
    return detail::compare_integers(a, b, [](int64_t x, int64_t y) { return x == y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator!=(A a, B b) {
    return detail::compare_integers(a, b, [](int64_t x, int64_t y) { return x != y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator<(A a, B b) {
    return detail::compare_integers(a, b, [](int64_t x, int64_t y) { return x < y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator<=(A a, B b) {
    return detail::compare_integers(a, b, [](int64_t x, int64_t y) { return x <= y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator>(A a, B b) {
    return b < a;
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto operator>=(A a, B b) {
    return b <= a;
}

template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto min(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return x < y ? x : y; });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto max(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return x > y ? x : y; });
}
/// Towards minus infinity, b not 0, and what remains, of the sign of b.
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto floor_div(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return floor_div(x, y); });
}
template <class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline auto floor_mod(A a, B b) {
    return detail::map_integers(a, b, [](int64_t x, int64_t y) { return floor_mod(x, y); });
}
template <int L>
[[gnu::always_inline]] inline Integers<L> abs(Integers<L> v) {
    return max(v, 0 - v);
}

/// mask ? a : b in each lane.
template <int L, class A, class B>
requires detail::WideOperands<A, B>
[[gnu::always_inline]] inline Integers<L> select(Mask<L> mask, A a, B b) {
    const Integers<L> x = detail::as_integers<L>(a), y = detail::as_integers<L>(b);
    Integers<L> result;
    for (int i = 0; i < L; ++i) result.lanes[i] = mask[i] ? x.lanes[i] : y.lanes[i];
    return result;
}

/// A number of 64 bits beside lanes of 32: the nearest one that such a lane holds.
[[gnu::always_inline]] inline int32_t saturated(int64_t x) {
    return static_cast<int32_t>(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}
template <int L>
[[gnu::always_inline]] inline Vector<int32_t, L> saturated(Integers<L> v) {
    return convert<int32_t>(max(min(v, INT32_MAX), INT32_MIN));
}

namespace detail {

[[gnu::always_inline]] inline float quotient_of_integers(int64_t a, int64_t b) {
    return b == 0 ? static_cast<float>(a) / 0.0f : static_cast<float>(floor_div(a, b));
}
[[gnu::always_inline]] inline float rest_of_integers(int64_t a, int64_t b) {
    return b == 0 ? __builtin_nanf("") : static_cast<float>(floor_mod(a, b));
}

template <class A, class B, class F>
[[gnu::always_inline]] inline auto floats_of_integers(A a, B b, F f) {
    if constexpr (std::integral<A> && std::integral<B>) {
        return f(a, b);
    } else {
        constexpr int L = IntegerLanes<A, B>::kLanes;
        const Integers<L> x = as_integers<L>(a), y = as_integers<L>(b);
        auto result = broadcast<Vector<float, L>>(0.0f);
        for (int i = 0; i < L; ++i) result.set(i, f(x.lanes[i], y.lanes[i]));
        return result;
    }
}

}  // namespace detail

/// floor_div and floor_mod of integers, exact before they are rounded to floats, where b may be 0: what
/// floats give then.
template <class A, class B>
[[gnu::always_inline]] inline auto float_floor_div(A a, B b) {
    return detail::floats_of_integers(a, b, detail::quotient_of_integers);
}
template <class A, class B>
[[gnu::always_inline]] inline auto float_floor_mod(A a, B b) {
    return detail::floats_of_integers(a, b, detail::rest_of_integers);
}

}  // namespace tessera::ntt
