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

template <class B>
concept CanPrefetch = requires(const B& b, int64_t i) {
    b.prefetch(i, i);
};

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

    const auto step = [&](int64_t k) __attribute__((always_inline)) {
        V b_group[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if constexpr (Tile.prefetch > 0 && CanPrefetch<B>) b.prefetch(group + j, k + Tile.prefetch);
            if constexpr (Tile.b_padded) {
                b_group[j] = b.template load<V>(group + j, k, Int<Tile.lanes>{});
            } else {
                b_group[j] = b.template load<V>(group + j, k, count);
            }
        }
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const V a_mk = a.template load<V>(m + i, k);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) sum[i][j] = fma(a_mk, b_group[j], sum[i][j]);
        }
    };
    constexpr int kUnroll = Tile.k_unroll;
    int64_t k = 0;
    if constexpr (kUnroll > 1) {
        // In k | u the compiler sees that (k | u) / 32 is k / 32, and an operand that decodes reads what it
        // has for 32 steps once in a turn.
        constexpr bool kIsPowerOfTwo = (kUnroll & (kUnroll - 1)) == 0;
        for (; k + kUnroll <= k_extent; k += kUnroll) {
#pragma GCC unroll 64
            for (int u = 0; u < kUnroll; ++u) step(kIsPowerOfTwo ? k | u : k + u);
        }
    }
    for (; k < k_extent; ++k) step(k);

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
requires RowsOperand<A, Vector<float, Tile.lanes>> && LanesOperand<B, Vector<float, Tile.lanes>> &&
    ResultOperand<C, Vector<float, Tile.lanes>>
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
