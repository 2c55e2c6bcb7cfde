#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/memory.h"

// Groups of lanes, of which the last of an axis may be partial. The number of valid lanes is an `Int<L>` in a
// whole group, where it costs nothing, and a run-time number in a partial one; the same text serves both.

namespace tessera::ntt {

/// True if the type of a lane count says that all lanes of V are valid.
template <Lanewise V, Extent N>
inline constexpr bool kIsWhole = std::same_as<N, Int<lanes_v<V>>>;

/// The valid lanes from memory, the others hold `identity`.
template <Lanewise V, SourceOf<V> P, Extent N>
[[gnu::always_inline]] inline V load_group(P p, N count, Element<V> identity = 0) {
    if constexpr (kIsWhole<V, N>) {
        return load<V>(p);
    } else {
        return load_first<V>(p, count, identity);
    }
}

template <Lanewise V, SourceOf<V> P, Extent S, Extent N>
[[gnu::always_inline]] inline V load_strided_group(P p, S stride, N count, Element<V> identity = 0) {
    if constexpr (kIsWhole<V, N>) {
        return load_strided<V>(p, stride);
    } else {
        return load_strided_first<V>(p, stride, count, identity);
    }
}

/// The valid lanes of which a coordinate, `at` in lane 0 and `step` more in each next one, lies in
/// [0, extent): lane i from p[i * stride]. The others hold `outside`. step > 0
template <Lanewise V, SourceOf<V> P, Extent S, Extent T, Extent N>
[[gnu::always_inline]] inline V load_inside(P p, S stride, int64_t at, T step, int64_t extent, N count,
                                            Element<V> outside) {
    const int64_t first = at < 0 ? ceil_div(-at, int64_t{step}) : 0;
    const int64_t inside = extent > at ? ceil_div(extent - at, int64_t{step}) : 0;
    return load_between<V>(p, stride, first, inside < count ? inside : int64_t{count}, outside);
}

/// Stores the valid lanes.
template <Lanewise V, TargetOf<V> P, Extent N>
[[gnu::always_inline]] inline void store_group(P p, V v, N count) {
    if constexpr (kIsWhole<V, N>) {
        store(p, v);
    } else {
        store_first(p, v, count);
    }
}

template <Lanewise V, TargetOf<V> P, Extent S, Extent N>
[[gnu::always_inline]] inline void store_strided_group(P p, S stride, V v, N count) {
    if constexpr (kIsWhole<V, N>) {
        store_strided(p, stride, v);
    } else {
        store_strided_first(p, stride, v, count);
    }
}

/// `folded` in the valid lanes, `before` in the others: a reduction goes on in the lanes that exist.
template <Lanewise V, Extent N>
[[gnu::always_inline]] inline V fold_group(N count, V folded, V before) {
    if constexpr (kIsWhole<V, N>) {
        return folded;
    } else {
        return select(iota<WithElement<V, int32_t>>() < static_cast<int32_t>(count), folded, before);
    }
}

/// f(begin, count) for each group of L numbers of [0, extent), in order; the count is an Int<L> or an
/// int64_t.
template <int L, Extent E, class F>
[[gnu::always_inline]] inline void for_groups(E extent, F f) {
    const int64_t whole = extent / L * L;
    for (int64_t begin = 0; begin < whole; begin += L) f(begin, Int<L>{});
    if (whole < extent) f(whole, extent - whole);
}

}  // namespace tessera::ntt
