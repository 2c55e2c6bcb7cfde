#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/blocks.h"
#include "tessera/ntt/operands.h"

namespace tessera::ntt {

/// The register block of a contraction, with lanes along n. `rows` x `groups` accumulators of `lanes` lanes
/// are live, with one register for each group of B and one for A: the plan chooses them so that they fit the
/// machine.
struct ContractTile {
    int lanes;                ///< L: consecutive n in one vector
    int rows;                 ///< m in one block
    int groups;               ///< groups of L consecutive n in one block
    int k_unroll = 1;         ///< steps of k in one turn of the loop
    bool accumulate = false;  ///< start from C instead of 0
    bool b_padded = false;    ///< the last group of B can be read whole
    int prefetch = 0;         ///< steps of k by which lines of B are fetched ahead; 0: never
};

namespace detail {

/// One block: MR rows, NR groups, all of K, each sum in the order of k.
template <ContractTile Tile, int MR, int NR, Extent Count, Extent K, class A, class B, class C>
[[gnu::always_inline]] inline void contract_block(int64_t m, int64_t group, Count count, K k_extent, A a, B b,
                                                  C c) {
    using V = Vector<float, Tile.lanes>;
    V sum[MR][NR];
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if constexpr (Tile.accumulate) {
                sum[i][j] = c.template start<V>(m + i, group + j, count);
            } else {
                sum[i][j] = broadcast<V>(0.0f);
            }
        }
    }

    const float* a_row = a.data + m * a.stride_m;
    const float* b_row = b.data + group * b.stride_group;
    const auto step = [&](const float* a_k, const float* b_k) __attribute__((always_inline)) {
        V b_group[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            const float* p = b_k + j * b.stride_group;
            if constexpr (Tile.prefetch > 0) __builtin_prefetch(p + Tile.prefetch * b.stride_k);
            if constexpr (Tile.b_padded) {
                b_group[j] = load<V>(p);
            } else {
                b_group[j] = load_group<V>(p, count);
            }
        }
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const V a_mk = broadcast<V>(a_k[i * a.stride_m]);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) sum[i][j] = fma(a_mk, b_group[j], sum[i][j]);
        }
    };
    constexpr int kUnroll = Tile.k_unroll;
    int64_t k = 0;
    if constexpr (kUnroll > 1) {
        for (; k + kUnroll <= k_extent; k += kUnroll) {
#pragma GCC unroll 16
            for (int u = 0; u < kUnroll; ++u) step(a_row + u * a.stride_k, b_row + u * b.stride_k);
            a_row += kUnroll * a.stride_k;
            b_row += kUnroll * b.stride_k;
        }
    }
    for (; k < k_extent; ++k) {
        step(a_row, b_row);
        a_row += a.stride_k;
        b_row += b.stride_k;
    }

#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) c.template finish<V>(m + i, group + j, sum[i][j], count);
    }
}

}  // namespace detail

/// C[m, n] (+)= sum_k A[m, k] * B[n, k] for m < M, n < N, k < K; every sum is formed in the order of k by one
/// fused multiply-add after the other, so the result depends neither on the tile nor on how K is cut into
/// accumulating calls. Blocks of n are the outer loop: a panel of B (K x groups x L) stays in the nearest
/// cache while the rows of A pass. Nothing of C beyond N is touched, nor of B unless `b_padded`.
template <ContractTile Tile, Extent M, Extent N, Extent K, class A, class B, class C>
requires ResultOperand<C, Vector<float, Tile.lanes>>
inline void contract(M m_extent, N n_extent, K k_extent, A a, B b, C c) {
    static_assert(Tile.rows >= 1 && Tile.groups >= 1 && Tile.k_unroll >= 1);
    constexpr int L = Tile.lanes;
    const auto k = StoredExtent<K>(k_extent);
    const auto rows_of = [&](auto groups, int64_t group, auto count) __attribute__((always_inline)) {
        for_blocks<Tile.rows>(
            StoredExtent<M>(m_extent), [&](auto rows, int64_t m) __attribute__((always_inline)) {
                detail::contract_block<Tile, rows.value, groups.value>(m, group, count, k, a, b, c);
            });
    };
    const auto whole_groups = [&](auto groups, int64_t group) __attribute__((always_inline)) {
        rows_of(groups, group, Int<L>{});
    };
    if constexpr (kIsStatic<N>) {
        for_blocks<Tile.groups>(Int<N::value / L>{}, whole_groups);
        if constexpr (N::value % L != 0) {
            rows_of(Int<1>{}, N::value / L, int64_t{N::value % L});
        }
    } else {
        const int64_t n = n_extent;
        for_blocks<Tile.groups>(n / L, whole_groups);
        if (n % L != 0) rows_of(Int<1>{}, n / L, n % L);
    }
}

}  // namespace tessera::ntt
