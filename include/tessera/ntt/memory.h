#pragma once

#include "tessera/ntt/vector.h"

// Between memory and vectors. No alignment is asked for. A partial access touches the first n elements and
// nothing else.

namespace tessera::ntt {

template <Lanewise V>
[[gnu::always_inline]] inline V load(const Element<V>* p) {
    if constexpr (Scalar<V>) {
        return *p;
    } else if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        return V{load<Half>(p), load<Half>(p + lanes_v<Half>)};
    } else {
        V v;
        __builtin_memcpy(&v.bits, p, sizeof(v.bits));
        return v;
    }
}

template <Lanewise V>
[[gnu::always_inline]] inline void store(Element<V>* p, V v) {
    if constexpr (Scalar<V>) {
        *p = v;
    } else if constexpr (V::kIsPair) {
        store(p, v.low);
        store(p + lanes_v<typename V::Half>, v.high);
    } else
        __builtin_memcpy(p, &v.bits, sizeof(v.bits));
}

/// The first n lanes from memory, the others hold `identity`. n <= 0 reads nothing, n >= L everything.
template <Lanewise V>
[[gnu::always_inline]] inline V load_first(const Element<V>* p, int64_t n, Element<V> identity = 0) {
    if constexpr (Scalar<V>) {
        return n > 0 ? *p : identity;
    } else if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        return V{load_first<Half>(p, n, identity),
                 load_first<Half>(p + lanes_v<Half>, n - lanes_v<Half>, identity)};
    } else
        return V{native::load_first(p, n > 0 ? n : 0, broadcast<V>(identity).bits)};
}

/// Stores the first n lanes. n <= 0 writes nothing, n >= L everything.
template <Lanewise V>
[[gnu::always_inline]] inline void store_first(Element<V>* p, V v, int64_t n) {
    if constexpr (Scalar<V>) {
        if (n > 0) *p = v;
    } else if constexpr (V::kIsPair) {
        store_first(p, v.low, n);
        store_first(p + lanes_v<typename V::Half>, v.high, n - lanes_v<typename V::Half>);
    } else
        native::store_first(p, v.bits, n > 0 ? n : 0);
}

/// Lane i from p[i * stride].
template <Lanewise V, Extent S>
[[gnu::always_inline]] inline V load_strided(const Element<V>* p, S stride) {
    if constexpr (Scalar<V>) {
        return *p;
    } else {
        V v;
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) v.set(i, p[i * stride]);
        return v;
    }
}

/// Lane i < n from p[i * stride], the others hold `identity`.
template <Lanewise V, Extent S>
[[gnu::always_inline]] inline V load_strided_first(const Element<V>* p, S stride, int64_t n,
                                                   Element<V> identity = 0) {
    if constexpr (Scalar<V>) {
        return n > 0 ? *p : identity;
    } else {
        V v = broadcast<V>(identity);
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) {
            if (i < n) v.set(i, p[i * stride]);
        }
        return v;
    }
}

/// Lane i to p[i * stride].
template <Lanewise V, Extent S>
[[gnu::always_inline]] inline void store_strided(Element<V>* p, S stride, V v) {
    if constexpr (Scalar<V>) {
        *p = v;
    } else {
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) p[i * stride] = v[i];
    }
}

/// Lane i < n to p[i * stride].
template <Lanewise V, Extent S>
[[gnu::always_inline]] inline void store_strided_first(Element<V>* p, S stride, V v, int64_t n) {
    if constexpr (Scalar<V>) {
        if (n > 0) *p = v;
    } else {
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) {
            if (i < n) p[i * stride] = v[i];
        }
    }
}

/// Lane i from p[index[i]]: a read through an indirect component of an access map.
template <Lanewise V>
[[gnu::always_inline]] inline V gather(const Element<V>* p, WithElement<V, int32_t> index) {
    if constexpr (Scalar<V>) {
        return p[index];
    } else {
        V v;
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) v.set(i, p[index[i]]);
        return v;
    }
}

}  // namespace tessera::ntt
