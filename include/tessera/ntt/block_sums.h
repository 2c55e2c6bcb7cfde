#pragma once

#include "tessera/ntt/fold.h"
#include "tessera/ntt/operands.h"

// Values that contractions in blocks of k (contract_blocks.h) derive from A once for all n.

namespace tessera::ntt {

/// The largest K of contract_blocks: the values derived from A stay on the stack (128 KiB for sums of blocks,
/// 1 MiB for shorts).
inline constexpr int64_t kContractBlocksK = 131072;

namespace detail {

/// Sums of blocks of A, of one row or of several.
inline constexpr int64_t kBlockSums = kContractBlocksK / 4;

/// Numbers of A as shorts.
inline constexpr int64_t kSplitNumbers = 4 * kContractBlocksK;

/// The sum of the signed bytes A[m, k] to A[m, k + Block - 1].
template <int Block, class A>
[[gnu::always_inline]] inline int32_t sum_bytes(const A& a, int64_t m, int64_t k) {
    constexpr int kQuads = Block / 4;
    constexpr int kPowerOfTwo = kQuads & -kQuads;
    constexpr int kLanes = kPowerOfTwo < kRegisterLanes ? kPowerOfTwo : kRegisterLanes;
    using I = Vector<int32_t, kLanes>;
    I sum = broadcast<I>(0);
    for (int i = 0; i < kQuads; i += kLanes)
        sum = dot_add(sum, broadcast<I>(four_times(1)), a.template load_quads<I>(m, k + 4 * i));
    return fold_sum(sum);
}

/// The sum of the numbers A[m, k] to A[m, k + Block - 1].
template <int Block, class A>
[[gnu::always_inline]] inline int32_t sum_block(const A& a, int64_t m, int64_t k) {
    if constexpr (HasTerms<A>) {
        return A::kRadix * sum_bytes<Block>(a.high, m, k) + sum_bytes<Block>(a.low, m, k);
    } else {
        return sum_bytes<Block>(a, m, k);
    }
}

/// The sums of the blocks of the rows [first, first + rows), times a factor, row by row.
template <int Block, class A, Extent M, class Sum>
[[gnu::always_inline]] inline void sum_blocks(const A& a, int64_t first, M rows, int64_t blocks, int factor,
                                              Sum* out) {
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t block = 0; block < blocks; ++block)
            out[i * blocks + block] =
                static_cast<Sum>(factor * sum_block<Block>(a, first + i, block * Block));
    }
}

/// Sums of the blocks of A: as floats where they are multiplied by offsets, which spares a conversion for
/// every block of columns; where there are none, integers times zero - bias.
template <class Sum>
struct BlockSums {
    const Sum* data;
    int64_t first, blocks;

    [[gnu::always_inline]] Sum operator()(int64_t m, int64_t block) const {
        return data[(m - first) * blocks + block];
    }
};

}  // namespace detail

}  // namespace tessera::ntt
