#pragma once

#include "tessera/ntt/group.h"

// What contractions read and write: a pointer and strides, each an Int<> or an int64_t, in elements.

namespace tessera::ntt {

/// A[m, k] at data + m*stride_m + k*stride_k; its elements are broadcast.
template <class StrideM, class StrideK>
struct Rows {
    const float* data;
    [[no_unique_address]] StrideM stride_m;
    [[no_unique_address]] StrideK stride_k;
};

/// B[n, k] at data + n/L*stride_group + k*stride_k + n%L: L consecutive n are contiguous. Packed
/// `[N/L][K][L]` is (K*L, L), a plain `[K][N]` matrix is (L, N).
template <class StrideGroup, class StrideK>
struct Lanes {
    const float* data;
    [[no_unique_address]] StrideGroup stride_group;
    [[no_unique_address]] StrideK stride_k;
};

/// C[m, n] at data + m*stride_m + n/L*stride_group + n%L. Row-major is (N, L), packed `[N/L][M][L]` is (L,
/// M*L).
template <class StrideM, class StrideGroup>
struct Result {
    float* data;
    [[no_unique_address]] StrideM stride_m;
    [[no_unique_address]] StrideGroup stride_group;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V start(int64_t m, int64_t group, Count count) const {
        return load_group<V>(data + m * stride_m + group * stride_group, count);
    }
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] void finish(int64_t m, int64_t group, V v, Count count) const {
        store_group(data + m * stride_m + group * stride_group, v, count);
    }
};

/// Where a contraction puts its sums: `start` gives what accumulation begins with, `finish` takes the sums of
/// the lanes of one group in one row. `count` is the number of valid lanes: an Int<L> in whole groups, an
/// int64_t in the last one.
template <class C, class V>
concept ResultOperand = requires(const C& c, int64_t i, V v) {
    { c.template start<V>(i, i, i) } -> std::same_as<V>;
    c.template finish<V>(i, i, v, i);
};

template <Extent SM, Extent SK>
constexpr Rows<StoredExtent<SM>, StoredExtent<SK>> rows(const float* data, SM stride_m, SK stride_k) {
    return {data, StoredExtent<SM>(stride_m), StoredExtent<SK>(stride_k)};
}
template <Extent SG, Extent SK>
constexpr Lanes<StoredExtent<SG>, StoredExtent<SK>> lanes(const float* data, SG stride_group, SK stride_k) {
    return {data, StoredExtent<SG>(stride_group), StoredExtent<SK>(stride_k)};
}
template <Extent SM, Extent SG>
constexpr Result<StoredExtent<SM>, StoredExtent<SG>> result(float* data, SM stride_m, SG stride_group) {
    return {data, StoredExtent<SM>(stride_m), StoredExtent<SG>(stride_group)};
}

}  // namespace tessera::ntt
