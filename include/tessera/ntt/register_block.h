#pragma once

#include "tessera/ntt/operands.h"

// Common parts of the contractions with lanes along n (contract.h, contract_blocks.h): the sums of one block
// of registers, MR rows and NR groups of lanes.

namespace tessera::ntt::detail {

/// The tile, starting from C.
template <class Tile>
constexpr Tile accumulating(Tile tile) {
    tile.accumulate = true;
    return tile;
}

/// Sets all to x.
template <int MR, int NR, class V>
[[gnu::always_inline]] inline void fill_with(V (&sum)[MR][NR], V x) {
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) sum[i][j] = x;
    }
}

/// Initialises the sums with C, or 0.
template <bool Accumulate, int MR, int NR, class V, class Group, Extent Count, class C>
[[gnu::always_inline]] inline void start_sums(V (&sum)[MR][NR], const C& c, int64_t m, Group group,
                                              Count count) {
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if constexpr (Accumulate) {
                sum[i][j] = c.template start<V>(m + i, group + j, count);
            } else {
                sum[i][j] = broadcast<V>(0.0f);
            }
        }
    }
}

/// Initialises the sums where they are resumed.
template <int MR, int NR, class V, class Group, Extent Count, class C>
[[gnu::always_inline]] inline void resume_sums(V (&sum)[MR][NR], const C& c, int64_t m, Group group,
                                               Count count) {
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) sum[i][j] = c.template resume<V>(m + i, group + j, count);
    }
}

/// Adds the partial sums to the first one, in order.
template <int Parts, int MR, int NR, class V>
[[gnu::always_inline]] inline void add_partial_sums(V (&sums)[Parts][MR][NR]) {
#pragma GCC unroll 64
    for (int p = 1; p < Parts; ++p) {
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) sums[0][i][j] = sums[0][i][j] + sums[p][i][j];
        }
    }
}

/// Writes the sums to C.
template <int MR, int NR, class V, class Group, Extent Count, class C>
[[gnu::always_inline]] inline void finish_sums(const V (&sum)[MR][NR], const C& c, int64_t m, Group group,
                                               Count count) {
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) c.template finish<V>(m + i, group + j, sum[i][j], count);
    }
}

}  // namespace tessera::ntt::detail
