#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/blocks.h"
#include "tessera/ntt/fold_many.h"
#include "tessera/ntt/operands.h"

namespace tessera::ntt {

/// The register block of a contraction with lanes along k.
struct ContractKTile {
    int lanes;                ///< L: consecutive k in one vector
    int rows;                 ///< m in one block
    int columns;              ///< n in one block
    bool accumulate = false;  ///< add to C instead of overwriting it
    bool k_padded = false;    ///< the last group of A and B can be read whole; its rest is 0 in both
};

/// X[i, k] at data + i*stride + k/L*stride_group + k%L. Plain `[N][K]` is (K, L); `[K/L][N][L]` is (L, N*L).
template <NumberPointer P, class Stride, class StrideGroup>
struct KLanes {
    P data;
    [[no_unique_address]] Stride stride;
    [[no_unique_address]] StrideGroup stride_group;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t i, int64_t group, Count count) const {
        return load_group<V>(data + (i * stride + group * stride_group), count);
    }
};

/// X from a function: f(i, group, count) gives the lanes k = group*L + l of row i as a Vector<float, L>, of
/// which those before `count` (an Int<L> or an int64_t) are valid and the others 0.
template <class F>
struct DecodedK {
    F function;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t i, int64_t group, Count count) const {
        return function(i, group, count);
    }
};

/// An operand of a contraction with lanes along k: gives the lanes of one group of k in one row. `count` is
/// an Int<L> in whole groups; in the last, an int64_t, the lanes from `count` on must be 0.
template <class X, class V>
concept KLanesOperand = requires(const X& x, int64_t i, Int<lanes_v<V>> count) {
    { x.template load<V>(i, i, count) } -> std::same_as<V>;
};

/// C[m, n] at data + m*stride_m + n*stride_n.
template <class StrideM, class StrideN>
struct Elements {
    float* data;
    [[no_unique_address]] StrideM stride_m;
    [[no_unique_address]] StrideN stride_n;
};

template <NumberPointer P, Extent S, Extent SG>
constexpr KLanes<P, StoredExtent<S>, StoredExtent<SG>> k_lanes(P data, S stride, SG stride_group) {
    return {data, StoredExtent<S>(stride), StoredExtent<SG>(stride_group)};
}
template <class F>
constexpr DecodedK<F> decoded_k(F function) {
    return {function};
}
template <Extent SM, Extent SN>
constexpr Elements<StoredExtent<SM>, StoredExtent<SN>> elements(float* data, SM stride_m, SN stride_n) {
    return {data, StoredExtent<SM>(stride_m), StoredExtent<SN>(stride_n)};
}

namespace detail {

template <class S>
inline constexpr bool kIsUnit = std::same_as<S, Int<1>>;

template <ContractKTile Tile, int MR, int NR, Extent K, class A, class B, class C>
[[gnu::always_inline]] inline void contract_k_block(int64_t m, int64_t n, K k_extent, A a, B b, C c) {
    constexpr int L = Tile.lanes;
    using V = Vector<float, L>;
    V sum[MR][NR];
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) sum[i][j] = broadcast<V>(0.0f);
    }

    const auto step = [&](int64_t group, auto count) __attribute__((always_inline)) {
        V b_lanes[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) b_lanes[j] = b.template load<V>(n + j, group, count);
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const V a_lanes = a.template load<V>(m + i, group, count);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) sum[i][j] = fma(a_lanes, b_lanes[j], sum[i][j]);
        }
    };
    const int64_t whole = k_extent / L;
    for (int64_t group = 0; group < whole; ++group) step(group, Int<L>{});
    if (whole * L < k_extent) {
        if constexpr (Tile.k_padded) {
            step(whole, Int<L>{});
        } else {
            step(whole, k_extent - whole * L);
        }
    }

#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
        float* out = c.data + (m + i) * c.stride_m + n * c.stride_n;
        if constexpr ((NR & (NR - 1)) == 0) {
            using Sums = Vector<float, NR>;
            Sums sums = fold_sums(sum[i]);
            if constexpr (kIsUnit<decltype(c.stride_n)>) {
                if constexpr (Tile.accumulate) sums = load<Sums>(out) + sums;
                store(out, sums);
            } else {
                if constexpr (Tile.accumulate) sums = load_strided<Sums>(out, c.stride_n) + sums;
                store_strided(out, c.stride_n, sums);
            }
        } else {
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                float& element = out[j * c.stride_n];
                element = Tile.accumulate ? element + fold_sum(sum[i][j]) : fold_sum(sum[i][j]);
            }
        }
    }
}

}  // namespace detail

/// C[m, n] (+)= sum_k A[m, k] * B[n, k] for m < M, n < N, k < K, lanes along k: lane i sums k = i, i + L,
/// ..., and the lanes are folded at the end, by the tree of fold_sum. The form for a B whose rows are
/// contiguous in k. Blocks of n are the outer loop.
template <ContractKTile Tile, Extent M, Extent N, Extent K, class A, class B, class C>
requires KLanesOperand<A, Vector<float, Tile.lanes>> && KLanesOperand<B, Vector<float, Tile.lanes>>
inline void contract_k(M m_extent, N n_extent, K k_extent, A a, B b, C c) {
    static_assert(Tile.rows >= 1 && Tile.columns >= 1);
    for_blocks<Tile.columns>(
        StoredExtent<N>(n_extent), [&](auto columns, int64_t n) __attribute__((always_inline)) {
            for_blocks<Tile.rows>(
                StoredExtent<M>(m_extent), [&](auto rows, int64_t m) __attribute__((always_inline)) {
                    detail::contract_k_block<Tile, rows.value, columns.value>(m, n, StoredExtent<K>(k_extent),
                                                                              a, b, c);
                });
        });
}

}  // namespace tessera::ntt
