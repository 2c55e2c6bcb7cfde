#pragma once

#include "tessera/ntt/vector.h"

// Folding the lanes of a vector into one number. The tree is the same on every machine, so results are too:
// lane i meets lane i + L/2, then i + L/4, and so on.
//
//     0 1 2 3 4 5 6 7      L = 8
//     |_______|            0 with 4, 1 with 5, 2 with 6, 3 with 7
//     |___|                0 with 2, 1 with 3
//     |_|                  0 with 1

namespace tessera::ntt {

namespace detail {

template <class T, int L, class F>
[[gnu::always_inline]] inline T fold_register(native::Register<T, L> v, F f) {
    if constexpr (L == 1) {
        return v[0];
    } else if constexpr (L == 2) {
        return f(v[0], v[1]);
    } else if constexpr (L == 4) {
        const auto half = f(v, __builtin_shufflevector(v, v, 2, 3, 2, 3));
        return f(half[0], half[1]);
    } else if constexpr (L == 8) {
        return fold_register<T, 4>(
            f(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)), f);
    } else {
        static_assert(L == 16, "no machine register has more than 16 lanes of 32 bits");
        return fold_register<T, 8>(f(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                                     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)),
                                   f);
    }
}

template <Lanewise V, class F>
[[gnu::always_inline]] inline Element<V> fold(V v, F f) {
    if constexpr (Scalar<V>) {
        return v;
    } else if constexpr (V::kIsPair) {
        return fold(map<typename V::Half>(f, v.low, v.high), f);
    } else {
        return fold_register<Element<V>, lanes_v<V>>(v.bits, f);
    }
}

}  // namespace detail

template <Lanewise V>
[[gnu::always_inline]] inline Element<V> fold_sum(V v) {
    return detail::fold(v, [](auto a, auto b) { return a + b; });
}
template <Lanewise V>
[[gnu::always_inline]] inline Element<V> fold_prod(V v) {
    return detail::fold(v, [](auto a, auto b) { return a * b; });
}
template <Lanewise V>
[[gnu::always_inline]] inline Element<V> fold_max(V v) {
    return detail::fold(v, [](auto a, auto b) { return native::max(a, b); });
}
template <Lanewise V>
[[gnu::always_inline]] inline Element<V> fold_min(V v) {
    return detail::fold(v, [](auto a, auto b) { return native::min(a, b); });
}

}  // namespace tessera::ntt
