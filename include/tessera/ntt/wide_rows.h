#pragma once

#include "tessera/ntt/group.h"
#include "tessera/ntt/operands.h"

// Rows of A as F32, made once for all n: a load brings 32 bits into all lanes, while a number of 16 bits is
// widened first, again for each block of n.

namespace tessera::ntt::detail {

/// Row m from k = first_k on at data + (m - first)*stride.
struct WideRows {
    const float* data;
    int64_t first, first_k, stride;

    template <AnyVector V>
    [[gnu::always_inline]] V load(int64_t m, int64_t k) const {
        return broadcast<V>(data[(m - first) * stride + (k - first_k)]);
    }
};

template <class A>
inline constexpr bool kIsNarrow = false;
template <NumberPointer P, class StrideM>
inline constexpr bool kIsNarrow<Rows<P, StrideM, Int<1>>> = kIsOneOf<Pointee<P>, f16, bf16>;

/// Writes the rows [first, first + rows) of A to `out`, one after the other, `depth` numbers of each from k =
/// begin on.
template <class A>
[[gnu::always_inline]] inline void widen_rows(const A& a, int64_t first, int64_t rows, int64_t begin,
                                              int64_t depth, float* out) {
    using V = Vector<float, kRegisterLanes>;
    for (int64_t i = 0; i < rows; ++i) {
        const auto row = a.data + (first + i) * a.stride_m + begin;
        float* wide = out + i * depth;
        int64_t k = 0;
        for (; k + kRegisterLanes <= depth; k += kRegisterLanes) store(wide + k, load<V>(row + k));
        store_group(wide + k, load_group<V>(row + k, depth - k), depth - k);
    }
}

}  // namespace tessera::ntt::detail
