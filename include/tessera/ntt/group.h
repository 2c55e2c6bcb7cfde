#pragma once

#include "tessera/ntt/extent.h"
#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/memory.h"
#include "tessera/ntt/vector.h"

/// Groups of lanes of which the last one may be partial. The number of valid lanes is `Int<L>` for a whole
/// group, which then costs nothing, and a run-time number from 1 to L - 1 otherwise.
namespace tessera::ntt {

template <typename V, typename T>
inline V load_group(const T* p, Int<lanes_v<V>>) {
    return load<V>(p);
}
template <typename V, typename T>
inline V load_group(const T* p, int64_t n) {
    return load_first<V>(p, n);
}

template <typename V, typename T>
inline V load_strided_group(const T* p, int64_t stride, Int<lanes_v<V>>) {
    return load_strided<V>(p, stride);
}
template <typename V, typename T>
inline V load_strided_group(const T* p, int64_t stride, int64_t n) {
    return load_strided_first<V>(p, stride, n);
}

template <typename T, typename V>
inline void store_group(T* p, V v, Int<lanes_v<V>>) {
    store(p, v);
}
template <typename T, typename V>
inline void store_group(T* p, V v, int64_t n) {
    store_first(p, v, n);
}

template <typename T, typename V>
inline void store_strided_group(T* p, int64_t stride, V v, Int<lanes_v<V>>) {
    store_strided(p, stride, v);
}
template <typename T, typename V>
inline void store_strided_group(T* p, int64_t stride, V v, int64_t n) {
    store_strided_first(p, stride, v, n);
}

/// `folded` in the valid lanes, `before` in the others.
template <typename V>
inline V fold_group(Int<lanes_v<V>>, V folded, V) {
    return folded;
}
template <typename V>
inline V fold_group(int64_t n, V folded, V before) {
    return select(iota<WithElement<V, int32_t>>() < static_cast<int32_t>(n), folded, before);
}

}  // namespace tessera::ntt
