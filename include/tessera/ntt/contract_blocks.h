#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/block_tile.h"
#include "tessera/ntt/blocks.h"
#include "tessera/ntt/contract_block_panels.h"
#include "tessera/ntt/contract_folded.h"
#include "tessera/ntt/fold.h"
#include "tessera/ntt/operands.h"
#include "tessera/ntt/split_rows.h"

// Contractions of int8 in blocks of k. Activations were rounded to int8 with a scale for each block. Weights
// are few bits with a scale, and perhaps an offset, for each block. So within a block the sum is one of
// integers, which dot products of bytes form exactly; only one number for each block becomes a float.
//
//     k          0 ............ 31 32 ........... 63 64 ...
//     A[m, k]    int8 * a_scale    int8 * a_scale
//     B[n, k]    (bits + zero) * coefficient + offset
//     sum        int32             int32                        -> float, in the order of k

namespace tessera::ntt {

/// The operands of contract_blocks.
template <ContractBlocksTile Tile, class A, class AScale, class B, class Coefficient, class Offset, class C,
          class V = Vector<float, Tile.lanes>>
concept BlocksContraction = RowTermsOperand<A, V> && RowsOperand<AScale, V> && LaneQuadsOperand<B, V> &&
    LanesOperand<Coefficient, V> &&
    (std::same_as<Offset, NoOffset> || LanesOperand<Offset, V>)&&ResultOperand<C, V>;

namespace detail {

/// True if A is multiplied as shorts.
template <ContractBlocksTile Tile, class A, class B, class I = Vector<int32_t, Tile.lanes>>
inline constexpr bool kSplitsRows = kSplitsQuads<I> && !kSumsBytes<I, B::kBits>;
template <ContractBlocksTile Tile, class A, class B, class I>
requires HasTerms<A>
inline constexpr bool kSplitsRows<Tile, A, B, I> = kSplitsQuads<I> && A::kRadix <= kLargestSplitRadix;

/// The largest magnitude of a number of A.
template <class A>
inline constexpr int64_t kLargestNumber = 128;
template <class A>
requires HasTerms<A>
inline constexpr int64_t kLargestNumber<A> = int64_t{128} * (A::kRadix + 1);

/// True if A is multiplied as shorts by panels that are made of B.
template <ContractBlocksTile Tile, class A, class Coefficient>
inline constexpr bool kFoldsPanels =
    Tile.panel_blocks > 0 && kFolds<Vector<float, Tile.lanes>, A, Coefficient>;

/// The number of rows of A whose derived values have room.
template <ContractBlocksTile Tile, class A, class B, class Coefficient>
constexpr int64_t fitting_rows(int64_t blocks) {
    if (blocks == 0) return kBlockSums;
    const int64_t sums = kBlockSums / blocks, shorts = kSplitNumbers / (blocks * Tile.block);
    return kSplitsRows<Tile, A, B> || kFoldsPanels<Tile, A, Coefficient> ? (sums < shorts ? sums : shorts)
                                                                         : sums;
}

/// The tile for too few rows for folded panels: the values of every block of k are live, too, so that there
/// is room for fewer rows.
constexpr ContractBlocksTile unfolded(ContractBlocksTile tile) {
    const int rows = tile.groups < 8 ? 8 / tile.groups : 1;
    tile.rows = tile.rows < rows ? tile.rows : rows;
    tile.panel_blocks = 0;
    return tile;
}

/// The rows [first, first + rows), as many as have room on the stack for all derived values, a float for
/// every block of k.
template <ContractBlocksTile Tile, Extent M, Extent N, class A, class AScale, class B, class Coefficient,
          class Offset, class C>
[[gnu::always_inline]] inline void contract_blocks_rows(int64_t first, M rows, N n_extent, int64_t blocks,
                                                        A a, AScale a_scale, B b, Coefficient coefficient,
                                                        Offset offset, C c) {
    constexpr bool kHasOffset = !std::same_as<Offset, NoOffset>;
    constexpr int kZero = Tile.zero - B::kBias;
    using Sum = std::conditional_t<kHasOffset, float, int32_t>;
    static_assert(!kHasOffset || kZero == 0 || Tile.block * kLargestNumber<A> <= 1 << 24,
                  "a sum is a float and, as an integer, what a block starts from");
    Sum a_sums[kBlockSums];
    // The sums are the start of a block if nothing else needs them.
    if constexpr (kZero != 0 || kHasOffset)
        sum_blocks<Tile.block>(a, first, rows, blocks, kHasOffset ? 1 : kZero, a_sums);
    const BlockSums<Sum> of_blocks{a_sums, first, blocks};
    const auto contract_with = [&](auto tile_rows, auto tile_groups, auto of_a)
        __attribute__((always_inline)) {
        constexpr int kRows = tile_rows.value;
        const auto rows_of = [&](auto groups, auto group, auto count) __attribute__((always_inline)) {
            if constexpr (kRows == Tile.rows && Tile.panel_blocks > 0) {
                if (rows >= int64_t{Tile.panel_blocks} * kRows)
                    return contract_blocks_by_panels<Tile, groups.value>(first, rows, group, count, blocks,
                                                                         of_blocks, of_a, a_scale, b,
                                                                         coefficient, offset, c);
            }
            for_blocks<kRows>(
                rows, [&](auto here, int64_t i) __attribute__((always_inline)) {
                    contract_blocks_tile<Tile, here.value, groups.value>(first + i, group, count, 0, blocks,
                                                                         of_blocks, of_a, a_scale, b,
                                                                         coefficient, offset, c);
                });
        };
        if constexpr (Tile.streams > 1 && tile_groups.value == Tile.streams) {
            for_streams<Tile.lanes, Tile.streams>(n_extent, rows_of);
        } else {
            for_groups<Tile.lanes, tile_groups.value>(n_extent, rows_of);
        }
    };
    if constexpr (kSplitsRows<Tile, A, B>) {
        int32_t shorts[kSplitNumbers / 2];
        const int64_t quads = blocks * (Tile.block / 4);
        if (split_rows(a, first, rows, 0, quads, shorts)) [[likely]] {
            contract_with(Int<Tile.rows>{}, Int<Tile.groups>{}, SplitRows{shorts, first, 0, quads});
        } else {
            contract_with(Int<1>{}, Int<1>{}, a);
        }
    } else {
        contract_with(Int<Tile.rows>{}, Int<Tile.groups>{}, a);
    }
}

/// The same, when the integers of a coefficient may be multiplied into B's numbers.
template <ContractBlocksTile Tile, Extent M, Extent N, class A, class AScale, class B, class Coefficient,
          class Offset, class C>
[[gnu::always_inline]] inline void contract_some_rows(int64_t first, M rows, N n_extent, int64_t blocks, A a,
                                                      AScale a_scale, B b, Coefficient coefficient,
                                                      Offset offset, C c) {
    if constexpr (kFoldsPanels<Tile, A, Coefficient>) {
        if (rows >= int64_t{Tile.panel_blocks} * Tile.rows && blocks > 0) {
            contract_folded_rows<Tile>(first, rows, n_extent, blocks, a, a_scale, b, coefficient, offset, c);
        } else {
            contract_blocks_rows<unfolded(Tile)>(first, rows, n_extent, blocks, a, a_scale, b, coefficient,
                                                 offset, c);
        }
    } else {
        contract_blocks_rows<Tile>(first, rows, n_extent, blocks, a, a_scale, b, coefficient, offset, c);
    }
}

}  // namespace detail

/// C[m, n] (+)= sum over the blocks of k, in order, of
///
///     a_scale(m, k / a_block) * (coefficient(n, k) * sum_k A[m, k] * (B[n, k] + zero) + offset(n, k) * sum_k
///     A[m, k])
///
/// for m < M, n < N; both sums go over the k of the block and are exact, coefficient and offset are read at
/// the first k of it. With t and s these sums as floats, u = fma(coefficient, t, offset * s), or coefficient
/// * t where there is no offset, and then sum = fma(a_scale, u, sum): the result depends neither on the tile
/// nor on how K is cut into accumulating calls, and has the same bits on all machines with FMA.
///
/// `a`: rows of int8_t with stride_k an Int<1>, or row_terms of them; `a_scale`: rows; `b`: lane_quads, of
/// which the last group is read whole; `coefficient`, `offset`: lanes or decoded, or no_offset; `c`: result.
/// K % block == 0, K <= kContractBlocksK. Blocks of n are the outer loop, as in contract(); the sums of A,
/// and where shorts are multiplied its numbers as shorts, are made once for all n, of as many rows as there
/// is room for: while these parts are of `rows` or more, they cost nothing. With `panel_blocks`, for that
/// many blocks of rows, the numbers of B are spread a panel at a time, once for all of them. `streams` as in
/// contract().
///
/// A `foldable` coefficient's integers are multiplied into them there, where A is of terms and the machine
/// multiplies shorts: then K % a_block == 0, and the order of the float operations is that of
/// contract_folded.h.
template <ContractBlocksTile Tile, Extent M, Extent N, Extent K, class A, class AScale, class B,
          class Coefficient, class Offset, class C>
requires BlocksContraction<Tile, A, AScale, B, Coefficient, Offset, C>
inline void contract_blocks(M m_extent, N n_extent, K k_extent, A a, AScale a_scale, B b,
                            Coefficient coefficient, Offset offset, C c) {
    static_assert(Tile.rows >= 1 && Tile.groups >= 1);
    static_assert(Tile.streams == 1 || (Tile.streams == Tile.groups && Tile.panel_blocks == 0));
    static_assert(Tile.block > 0 && Tile.block % 4 == 0 && Tile.a_block % Tile.block == 0);
    // The most that a number of B plus its start can be.
    static_assert(int64_t{Tile.block} * detail::kLargestNumber<A> *
                      (255 + (Tile.zero < 0 ? -Tile.zero : Tile.zero) + B::kBias) <=
                  INT32_MAX);
    const int64_t blocks = k_extent / Tile.block;
    constexpr bool kIsOnePart = [] {
        if constexpr (kIsStatic<M> && kIsStatic<K>) {
            return M::value <= detail::fitting_rows<Tile, A, B, Coefficient>(K::value / Tile.block);
        } else if constexpr (kIsStatic<M>) {
            return M::value == 1;
        }
        return false;
    }();
    if constexpr (kIsOnePart) {
        detail::contract_some_rows<Tile>(0, m_extent, n_extent, blocks, a, a_scale, b, coefficient, offset,
                                         c);
    } else {
        detail::for_parts<Tile.rows>(
            m_extent, detail::fitting_rows<Tile, A, B, Coefficient>(blocks),
            [&](int64_t first, int64_t rows) __attribute__((always_inline)) {
                detail::contract_some_rows<Tile>(first, rows, n_extent, blocks, a, a_scale, b, coefficient,
                                                 offset, c);
            });
    }
}

}  // namespace tessera::ntt
