#pragma once

#include "tessera/ntt/fold.h"

// Masks: the results of comparisons. Scalars compare to bool, and the same functions take both.

namespace tessera::ntt {

template <class M>
struct IsMask : std::false_type {};
template <>
struct IsMask<bool> : std::true_type {};
template <int L>
struct IsMask<Mask<L>> : std::true_type {};

/// `bool` or `Mask<L>`.
template <class M>
concept AnyMask = IsMask<M>::value;

template <AnyMask M>
[[gnu::always_inline]] inline M logical_and(M a, M b) {
    if constexpr (std::same_as<M, bool>) {
        return a && b;
    } else {
        return detail::map<M>([](auto x, auto y) { return x & y; }, a, b);
    }
}

template <AnyMask M>
[[gnu::always_inline]] inline M logical_or(M a, M b) {
    if constexpr (std::same_as<M, bool>) {
        return a || b;
    } else {
        return detail::map<M>([](auto x, auto y) { return x | y; }, a, b);
    }
}

template <AnyMask M>
[[gnu::always_inline]] inline M logical_not(M a) {
    if constexpr (std::same_as<M, bool>) {
        return !a;
    } else {
        return detail::map<M>([](auto x) { return ~x; }, a);
    }
}

/// True if a lane is set.
template <AnyMask M>
[[gnu::always_inline]] inline bool any(M mask) {
    const auto both = [](auto x, auto y) { return x | y; };
    if constexpr (std::same_as<M, bool>) {
        return mask;
    } else if constexpr (M::kIsPair) {
        return any(detail::map<typename M::Half>(both, mask.low, mask.high));
    } else {
        return detail::fold_register<int32_t, sizeof(mask.bits) / 4>(mask.bits, both) != 0;
    }
}

/// True if every lane is set.
template <AnyMask M>
[[gnu::always_inline]] inline bool all(M mask) {
    return !any(logical_not(mask));
}

}  // namespace tessera::ntt
