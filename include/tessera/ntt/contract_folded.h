#pragma once

#include "tessera/ntt/block_panel.h"
#include "tessera/ntt/block_tile.h"
#include "tessera/ntt/blocks.h"
#include "tessera/ntt/foldable.h"

// Contractions in blocks of k (contract_blocks.h) of many rows, the integers of a foldable coefficient
// multiplied into B's numbers: a panel holds them as shorts, once for all rows. The work of a block of
// registers besides products comes once for every `Fold` of k, not once for every block.

namespace tessera::ntt::detail {

/// Sums of the rows that pass a panel: 128 KiB, each of which is needed once for a panel of all its k.
inline constexpr int64_t kFoldedSums = 32768;

/// (x + zero) * scale, short by short.
template <AnyVector Q>
[[gnu::always_inline]] inline Q folded(Q x, Q zero, Q scale) {
    return map<Q>(
        []<class R>(R numbers, R start, R factor) {
            using Unsigned = UnsignedShortsIn<R>;  // results beyond a short wrap
            return native::same_bits<R>(
                (native::same_bits<Unsigned>(numbers) + native::same_bits<Unsigned>(start)) *
                native::same_bits<Unsigned>(factor));
        },
        x, zero, scale);
}

/// The number in both shorts of its lane.
template <AnyVector Q>
[[gnu::always_inline]] inline Q twice(Q x) {
    return (x & 0xffff) | (x << 16);
}

/// Writes NR groups of B, from block `begin` on, `blocks` of them, times their integers.
template <ContractBlocksTile Tile, int NR, Extent Count, class B, class Scale>
[[gnu::always_inline]] inline void fill_folded(const B& b, const Scale& scale, int64_t group, Count count,
                                               int64_t begin, int64_t blocks, int32_t* out) {
    constexpr int L = Tile.lanes, kQuads = Tile.block / 4;
    using V = Vector<float, L>;
    using Q = QuadsOf<V>;
    const Q zero = twice(broadcast<Q>(Tile.zero - B::kBias));
    for (int64_t block = begin; block < begin + blocks; ++block, out += kQuads * NR * 2 * L) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            Q factor = twice(broadcast<Q>(1));
            if constexpr (!std::same_as<Scale, NoScale>)
                factor =
                    twice(convert<int32_t>(scale.template load<V>(group + j, block * Tile.block, count)));
            int32_t* to = out + j * 2 * L;
            for (int64_t quad = block * kQuads; quad < (block + 1) * kQuads; ++quad, to += NR * 2 * L) {
                const auto numbers = b.template load_split_quads<V>(group + j, quad);
                store(to, folded(numbers.even, zero, factor));
                store(to + L, folded(numbers.odd, zero, factor));
            }
        }
    }
}

/// The place of the sums of rows from `first_row` on and groups from `first` on.
struct SumsAt {
    float* data;
    int64_t first_row, first, stride_m, stride_group;

    [[gnu::always_inline]] float* at(int64_t m, int64_t group) const {
        return data + ((m - first_row) * stride_m + (group - first) * stride_group);
    }
};

/// The step for one block of A's scales, from block `begin` of k on: adds to the sums of rows. With t and s
/// the sums of the products and of A as floats, and w = 0 at first, for every `Fold` of k w = fma(rest, t,
/// w), and then for each block of these w = fma(offset, s, w); at the end to = fma(a_scale, w, from).
template <ContractBlocksTile Tile, int Fold, class AScale, class Rest, class Offset>
struct FoldedSums {
    int64_t begin;
    BlockSums<float> a_sums;
    AScale a_scale;
    Rest rest;
    Offset offset;
    SumsAt from, to;

    /// One block of registers: MR rows from m on, NR groups. `products.add(sums, m, group, part)` adds the
    /// products of the `part`th `Fold` of these k.
    template <int MR, int NR, class Products>
    [[gnu::always_inline]] void add(int64_t m, int64_t group, const Products& products) const {
        using V = Vector<float, Tile.lanes>;
        using I = QuadsOf<V>;
        constexpr int kBlocks = Fold / Tile.block;
        const Int<Tile.lanes> all;
        V whole[MR][NR];
        fill_with(whole, broadcast<V>(0.0f));
        for (int part = 0; part < Tile.a_block / Fold; ++part) {
            const int64_t first_block = begin + part * kBlocks;
            I sums[MR][NR];
            fill_with(sums, broadcast<I>(0));
            products.add(sums, m, group, part);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                const V factor = rest.template load<V>(group + j, first_block * Tile.block, all);
#pragma GCC unroll 64
                for (int i = 0; i < MR; ++i)
                    whole[i][j] = fma(factor, convert<float>(sums[i][j]), whole[i][j]);
            }
            if constexpr (!std::same_as<Offset, NoOffset>) {
#pragma GCC unroll 64
                for (int block = 0; block < kBlocks; ++block) {
#pragma GCC unroll 64
                    for (int j = 0; j < NR; ++j) {
                        const V shift =
                            offset.template load<V>(group + j, (first_block + block) * Tile.block, all);
#pragma GCC unroll 64
                        for (int i = 0; i < MR; ++i)
                            whole[i][j] =
                                fma(shift, broadcast<V>(a_sums(m + i, first_block + block)), whole[i][j]);
                    }
                }
            }
        }
        const int64_t k = begin * Tile.block;
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const V scale = a_scale.template load<V>(m + i, k / Tile.a_block);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                const V sum = ntt::load<V>(from.at(m + i, group + j));
                store(to.at(m + i, group + j), fma(scale, whole[i][j], sum));
            }
        }
    }
};

/// Products of shorts, from a quad on, `Fold` of k at a time.
template <int Fold, int NR, int L>
struct ShortProducts {
    SplitRows a;
    QuadPanel<NR, L, 0, 8> b;

    template <class I, int MR>
    [[gnu::always_inline]] void add(I (&sums)[MR][NR], int64_t m, int64_t group, int part) const {
        constexpr int kSteps = Fold / 4;
        constexpr int kUnroll = kSteps == 8 ? 8 : kSteps % 4 == 0 ? 4 : 1;
        const int64_t first = b.first_quad + part * kSteps;
        for (int turn = 0; turn < kSteps; turn += kUnroll) {
#pragma GCC unroll 64
            for (int u = 0; u < kUnroll; ++u)
                add_split_quads<WithElement<I, float>>(sums, a, m, b, group, first + turn + u);
        }
    }
};

/// The rows [first, first + rows), B from a panel. A separate function, since this code does not depend on
/// the encoding of B.
template <int MR, int NR, class Products, class Sums>
[[gnu::noinline]] inline void add_short_products(int64_t first, int64_t rows, int64_t group,
                                                 Products products, NextPanel next, Sums sums) {
    for_blocks<MR>(
        rows, [&](auto here, int64_t i) __attribute__((always_inline)) {
            next.fetch<NR>(i / MR);
            sums.template add<here.value, NR>(first + i, group, products);
        });
}

/// A contraction of folded numbers in shorts: `shorts` are those of the rows [first, first + rows) of A, for
/// one panel after those for another.
template <ContractBlocksTile Tile, int Fold>
struct FoldedShorts {
    const int32_t* shorts;
    int64_t first, rows;

    /// Size of a panel of so many groups, in numbers of 32 bits.
    static constexpr int64_t panel_numbers(int64_t groups) { return Tile.a_block / 2 * groups * Tile.lanes; }

    template <int NR, Extent Count, class B, class Scale>
    [[gnu::always_inline]] void fill(const B& b, const Scale& scale, int64_t group, Count count,
                                     int64_t begin, int32_t* panel) const {
        fill_folded<Tile, NR>(b, scale, group, count, begin, Tile.a_block / Tile.block, panel);
    }
    template <int NR, class Sums>
    [[gnu::always_inline]] void multiply(int64_t first_row, int64_t some, int64_t group, const int32_t* panel,
                                         NextPanel next, const Sums& sums) const {
        const int64_t k = sums.begin * Tile.block;
        const SplitRows a{shorts + k / 2 * rows, first, k / 4, Tile.a_block / 4};
        add_short_products<Tile.rows, NR>(first_row, some, group,
                                          ShortProducts<Fold, NR, Tile.lanes>{a, {panel, group, k / 4}}, next,
                                          sums);
    }
};

/// NR groups of the rows [first, first + rows), B's numbers times their integers by panels of one block of
/// A's scales, which `numbers` fills and multiplies. Between panels the sums of whole groups lie beside each
/// other, too; those of another begin and end so.
template <ContractBlocksTile Tile, int NR, Extent Count, class Numbers, class AScale, class B,
          class Coefficient, class Offset, class StrideM, class StrideGroup>
[[gnu::always_inline]] inline void contract_folded(int64_t first, int64_t rows, int64_t group, Count count,
                                                   int64_t blocks, BlockSums<float> a_sums,
                                                   const Numbers& numbers, AScale a_scale, const B& b,
                                                   const Coefficient& coefficient, const Offset& offset,
                                                   Result<StrideM, StrideGroup> c) {
    constexpr int L = Tile.lanes, kBlock = Tile.block, kFold = Coefficient::kFold;
    constexpr int kBlocks = Tile.a_block / kBlock, kFolds = Tile.a_block / kFold;
    static_assert(kFold % kBlock == 0 && Tile.a_block % kFold == 0);
    alignas(64) int32_t of_b[Numbers::panel_numbers(NR)];
    alignas(64) float rests[kFolds * NR * L], offsets[kBlocks * NR * L];
    alignas(64) float sums[kFoldedSums], zeros[L] = {};
    constexpr bool kWhole = kIsStatic<Count>;
    const auto of_rows = [&](int64_t first_row, int64_t some) __attribute__((always_inline)) {
        [[maybe_unused]] const SumPanel<NR, L> panel{sums, first_row, group};
        const SumsAt between{sums, first_row, group, NR * L, L};
        const SumsAt in_c{c.data + first_row * c.stride_m + group * c.stride_group, first_row, group,
                          c.stride_m, c.stride_group};
        SumsAt from = !Tile.accumulate ? SumsAt{zeros, first_row, group, 0, 0} : kWhole ? in_c : between;
        if constexpr (Tile.accumulate && !kWhole) start_panel<true>(panel, c, first_row, some, group, count);
        for (int64_t begin = 0; begin < blocks; begin += kBlocks) {
            const int64_t k = begin * kBlock;
            const SumsAt to = kWhole && begin + kBlocks == blocks ? in_c : between;
            numbers.template fill<NR>(b, coefficient.scale, group, count, begin, of_b);
            fill_factors<NR, L, kFold>(coefficient.rest, group, count, k / kFold, k / kFold + kFolds, rests);
            const bool is_last = begin + kBlocks == blocks;
            const int64_t after = is_last ? 0 : (k + Tile.a_block) / 4;
            const NextPanel next =
                next_panel(b, is_last ? group + NR : group, after, after + Tile.a_block / 4);
            const FactorPanel<NR, L, kFold> rest{rests, group, k};
            const auto with_offset = [&]<class O>(O of_block) __attribute__((always_inline)) {
                numbers.template multiply<NR>(first_row, some, group, of_b, next,
                                              FoldedSums<Tile, kFold, AScale, FactorPanel<NR, L, kFold>, O>{
                                                  begin, a_sums, a_scale, rest, of_block, from, to});
            };
            if constexpr (std::same_as<Offset, NoOffset>) {
                with_offset(offset);
            } else {
                fill_factors<NR, L, kBlock>(offset, group, count, begin, begin + kBlocks, offsets);
                with_offset(FactorPanel<NR, L, kBlock>{offsets, group, k});
            }
            from = between;
        }
        if constexpr (!kWhole) finish_panel(panel, c, first_row, some, group, count);
    };
    for_parts<Tile.rows>(
        rows, kFoldedSums / (NR * L), [&](int64_t i, int64_t some) __attribute__((always_inline)) {
            of_rows(first + i, some);
        });
}

/// The rows [first, first + rows), as many as have all derived values on the stack.
template <ContractBlocksTile Tile, Extent M, Extent N, class A, class AScale, class B, class Coefficient,
          class Offset, class C>
[[gnu::always_inline]] inline void contract_folded_rows(int64_t first, M rows, N n_extent, int64_t blocks,
                                                        const A& a, AScale a_scale, const B& b,
                                                        const Coefficient& coefficient, const Offset& offset,
                                                        C c) {
    float a_sums[kBlockSums];
    if constexpr (!std::same_as<Offset, NoOffset>) sum_blocks<Tile.block>(a, first, rows, blocks, 1, a_sums);
    // The numbers for one panel lie beside each other, as they are read.
    constexpr int kQuads = Tile.a_block / 4;
    int32_t shorts[kSplitNumbers / 2];
    for (int64_t k = 0; k < blocks * Tile.block; k += Tile.a_block)
        split_rows(a, first, rows, k / 4, kQuads, shorts + k / 2 * rows);
    const FoldedShorts<Tile, Coefficient::kFold> numbers{shorts, first, rows};
    for_groups<Tile.lanes, Tile.groups>(
        n_extent, [&](auto groups, int64_t group, auto count) __attribute__((always_inline)) {
            contract_folded<Tile, groups.value>(first, rows, group, count, blocks,
                                                BlockSums<float>{a_sums, first, blocks}, numbers, a_scale, b,
                                                coefficient, offset, c);
        });
}

}  // namespace tessera::ntt::detail
