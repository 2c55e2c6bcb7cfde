#pragma once

#include "tessera/ntt/block_panel.h"
#include "tessera/ntt/block_tile.h"
#include "tessera/ntt/blocks.h"

// Contractions in blocks of k (contract_blocks.h) of many rows, B by panels.

namespace tessera::ntt::detail {

/// The rows [first, first + rows) and the blocks [begin, end), B from a panel. A separate function, since
/// this code does not depend on the encoding of B.
template <ContractBlocksTile Tile, int NR, class A, class AScale, class B, class Coefficient, class Offset,
          class Sum>
[[gnu::noinline]] inline void contract_blocks_panel(int64_t first, int64_t rows, int64_t group, int64_t begin,
                                                    int64_t end, BlockSums<Sum> a_sums, A a, AScale a_scale,
                                                    B b, Coefficient coefficient, Offset offset,
                                                    SumPanel<NR, Tile.lanes> c) {
    for_blocks<Tile.rows>(
        rows, [&](auto here, int64_t i) __attribute__((always_inline)) {
            contract_blocks_tile<accumulating(Tile), here.value, NR>(first + i, group, Int<Tile.lanes>{},
                                                                     begin, end, a_sums, a, a_scale, b,
                                                                     coefficient, offset, c);
        });
}

/// NR groups of the rows [first, first + rows), B by panels.
template <ContractBlocksTile Tile, int NR, Extent Count, class A, class AScale, class B, class Coefficient,
          class Offset, class C, class Sum>
[[gnu::always_inline]] inline void contract_blocks_by_panels(
    int64_t first, int64_t rows, int64_t group, Count count, int64_t blocks, BlockSums<Sum> a_sums,
    const A& a, AScale a_scale, const B& b, const Coefficient& coefficient, const Offset& offset, C c) {
    constexpr int L = Tile.lanes, kBlock = Tile.block;
    constexpr int64_t kBlocks = kBlock < kBlockPanelDepth ? kBlockPanelDepth / kBlock : 1;
    alignas(64) int32_t quads[kBlocks * kBlock / 4 * NR * L * (kIsSplit<A> ? 2 : 1)];
    alignas(64) float coefficients[kBlocks * NR * L], offsets[kBlocks * NR * L];
    alignas(64) float sums[kBlockPanelSums];
    const auto of_rows = [&](int64_t first_row, int64_t some) __attribute__((always_inline)) {
        const SumPanel<NR, L> panel{sums, first_row, group};
        start_panel<Tile.accumulate>(panel, c, first_row, some, group, count);
        for (int64_t begin = 0; begin < blocks; begin += kBlocks) {
            const int64_t end = begin + kBlocks < blocks ? begin + kBlocks : blocks;
            fill_quads<kIsSplit<A>, NR, L>(b, group, begin * (kBlock / 4), end * (kBlock / 4), quads);
            fill_factors<NR, L, kBlock>(coefficient, group, count, begin, end, coefficients);
            const auto with_offset = [&](auto of_block) __attribute__((always_inline)) {
                contract_blocks_panel<Tile, NR>(
                    first_row, some, group, begin, end, a_sums, a, a_scale,
                    QuadPanel<NR, L, B::kBias, B::kBits>{quads, group, begin * (kBlock / 4)},
                    FactorPanel<NR, L, kBlock>{coefficients, group, begin * kBlock}, of_block, panel);
            };
            if constexpr (std::same_as<Offset, NoOffset>) {
                with_offset(offset);
            } else {
                fill_factors<NR, L, kBlock>(offset, group, count, begin, end, offsets);
                with_offset(FactorPanel<NR, L, kBlock>{offsets, group, begin * kBlock});
            }
        }
        finish_panel(panel, c, first_row, some, group, count);
    };
    for_parts<Tile.rows>(
        rows, kBlockPanelSums / (NR * L), [&](int64_t i, int64_t some) __attribute__((always_inline)) {
            of_rows(first + i, some);
        });
}

}  // namespace tessera::ntt::detail
