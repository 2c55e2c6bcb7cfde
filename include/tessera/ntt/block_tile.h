#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/block_sums.h"
#include "tessera/ntt/blocks.h"
#include "tessera/ntt/byte_sums.h"
#include "tessera/ntt/register_block.h"
#include "tessera/ntt/split_rows.h"

// One block of registers of a contraction in blocks of k (contract_blocks.h).

namespace tessera::ntt {

/// The register block of a contraction in blocks, with lanes along n. `rows` x `groups` sums of int32 and as
/// many of float are live, with one register for each group of B and one for A: 19 registers for 4x2, 27 for
/// 6x2, 11 for 2x2. With row_terms there are twice as many sums of int32, and two registers for A: 28 for
/// 4x2.
struct ContractBlocksTile {
    int lanes;                ///< L: consecutive n in one vector
    int rows;                 ///< m in one block of registers
    int groups;               ///< groups of L consecutive n in one block of registers
    int block;                ///< k that share a coefficient and an offset, a multiple of 4
    int a_block;              ///< k that share a scale of A, a multiple of `block`
    int zero = 0;             ///< added to every number of B
    bool accumulate = false;  ///< start from C instead of 0
    int prefetch = 0;         ///< bytes by which lines of B are fetched ahead, but not by panels; 0: never
    int streams = 1;          ///< parts of n of which a block has a group each: 1, or `groups`
    int panel_blocks = 0;     ///< if there are this many blocks of rows, B is spread by panels; 0: never
};

/// No offset is added to the numbers of B, and none is computed.
struct NoOffset {};
inline constexpr NoOffset no_offset;

namespace detail {

/// products += B * A of one quad of k, numbers of both as shorts.
template <class V, class A, class B, class Group, class I, int MR, int NR>
[[gnu::always_inline]] inline void add_split_quads(I (&products)[MR][NR], const A& a, int64_t m, const B& b,
                                                   Group group, int64_t quad) {
    SplitQuads<I> numbers[NR];
#pragma GCC unroll 64
    for (int j = 0; j < NR; ++j) numbers[j] = b.template load_split_quads<V>(group + j, quad);
    if constexpr (kAddsSplitDots<I>) {
        // All even ones, then all odd ones: no operation waits for the one before.
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const I a_even = a.template load_even<V>(m + i, quad);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j)
                products[i][j] = dot_add_shorts(products[i][j], numbers[j].even, a_even);
        }
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const I a_odd = a.template load_odd<V>(m + i, quad);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j)
                products[i][j] = dot_add_shorts(products[i][j], numbers[j].odd, a_odd);
        }
    } else {
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const SplitQuads<I> a_quad{a.template load_even<V>(m + i, quad),
                                       a.template load_odd<V>(m + i, quad)};
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) products[i][j] = dot_add(products[i][j], numbers[j], a_quad);
        }
    }
}

/// products += B * A of one quad of k, B's numbers of `groups`; for terms, the high ones are summed apart.
template <class V, class A, class B, class Group, class I, int MR, int NR>
[[gnu::always_inline]] inline void add_quads(I (&products)[MR][NR], [[maybe_unused]] I (&high)[MR][NR],
                                             const A& a, int64_t m, const B& b, Group group, int64_t quad) {
    if constexpr (kIsSplit<A>) {
        add_split_quads<V>(products, a, m, b, group, quad);
    } else {
        I numbers[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) numbers[j] = b.template load_quads<V>(group + j, quad);
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            if constexpr (HasTerms<A>) {
                const I a_high = a.high.template load_quad<V>(m + i, 4 * quad);
                const I a_low = a.low.template load_quad<V>(m + i, 4 * quad);
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j) high[i][j] = dot_add(high[i][j], numbers[j], a_high);
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j) products[i][j] = dot_add(products[i][j], numbers[j], a_low);
            } else {
                const I a_quad = a.template load_quad<V>(m + i, 4 * quad);
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j) products[i][j] = dot_add(products[i][j], numbers[j], a_quad);
            }
        }
    }
}

/// True if A is read as bytes whose products are summed as shorts.
template <class A, class B, class I>
inline constexpr bool kMultipliesBytes = !kIsSplit<A> && !HasTerms<A> && kSumsBytes<I, B::kBits>;

/// products += B * A of the quads [quad, quad + Quads) of k, summed as shorts.
template <class V, int Quads, class A, class B, class Group, class I, int MR, int NR>
[[gnu::always_inline]] inline void add_quads_of_bytes(I (&products)[MR][NR], const A& a, int64_t m,
                                                      const B& b, Group group, int64_t quad) {
    I shorts[MR][NR];
#pragma GCC unroll 64
    for (int q = 0; q < Quads; ++q) {
        I numbers[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) numbers[j] = b.template load_quads<V>(group + j, quad + q);
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const I a_quad = a.template load_quad<V>(m + i, 4 * (quad + q));
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j)
                shorts[i][j] = add_byte_pairs(q == 0 ? broadcast<I>(0) : shorts[i][j], numbers[j], a_quad);
        }
    }
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) products[i][j] = add_shorts(products[i][j], shorts[i][j]);
    }
}

/// One block of registers: MR rows from m on, NR groups, the blocks [begin, end) of k.
template <ContractBlocksTile Tile, int MR, int NR, class Group, Extent Count, class A, class AScale, class B,
          class Coefficient, class Offset, class C, class Sum>
[[gnu::always_inline]] inline void contract_blocks_tile(int64_t m, Group group, Count count, int64_t begin,
                                                        int64_t end, BlockSums<Sum> a_sums, A a,
                                                        AScale a_scale, B b, Coefficient coefficient,
                                                        Offset offset, C c) {
    using V = Vector<float, Tile.lanes>;
    using I = QuadsOf<V>;
    constexpr bool kHasOffset = !std::same_as<Offset, NoOffset>;
    constexpr int kZero = Tile.zero - B::kBias;
    constexpr int kSteps = Tile.block / 4;
    constexpr int kUnroll = kSteps % 8 == 0 ? 8 : kSteps % 4 == 0 ? 4 : 1;
    V sum[MR][NR];
    start_sums<Tile.accumulate>(sum, c, m, group, count);

    for (int64_t block = begin; block < end; ++block) {
        const int64_t k = block * Tile.block;
        I products[MR][NR], high[MR][NR];
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            I start = broadcast<I>(0);
            if constexpr (kZero != 0 && kHasOffset)
                start = broadcast<I>(kZero * static_cast<int32_t>(a_sums(m + i, block)));
            if constexpr (kZero != 0 && !kHasOffset) start = broadcast<I>(a_sums(m + i, block));
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                products[i][j] = start;
                high[i][j] = broadcast<I>(0);
            }
        }
        if constexpr (Tile.prefetch > 0 && HasAddress<B>) {
            constexpr int kBytes = Tile.block * Tile.lanes * B::kBits / 8;
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                const char* bytes = byte_at(b.address(group + j, block * kSteps));
#pragma GCC unroll 64
                for (int line = 0; line < kBytes; line += kLineBytes)
                    fetch_ahead<Tile.prefetch>(bytes + line);
            }
        }
        for (int turn = 0; turn < kSteps; turn += kUnroll) {
            const int64_t first = block * kSteps + turn;
            if constexpr (kMultipliesBytes<A, B, I>) {
                constexpr int kQuads = kQuadsInShorts<B::kBits>;
                for_blocks<kQuads>(
                    Int<kUnroll>{}, [&](auto quads, int64_t u) __attribute__((always_inline)) {
                        add_quads_of_bytes<V, quads.value>(products, a, m, b, group, first + u);
                    });
            } else {
#pragma GCC unroll 64
                for (int u = 0; u < kUnroll; ++u) add_quads<V>(products, high, a, m, b, group, first + u);
            }
        }
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            const V factor = coefficient.template load<V>(group + j, k, count);
            V shift;
            if constexpr (kHasOffset) shift = offset.template load<V>(group + j, k, count);
#pragma GCC unroll 64
            for (int i = 0; i < MR; ++i) {
                I product = products[i][j];
                if constexpr (HasTerms<A>) product = product + high[i][j] * A::kRadix;
                const V whole = convert<float>(product);
                V scaled;
                if constexpr (kHasOffset) {
                    scaled = fma(factor, whole, shift * broadcast<V>(a_sums(m + i, block)));
                } else {
                    scaled = factor * whole;
                }
                sum[i][j] = fma(a_scale.template load<V>(m + i, k / Tile.a_block), scaled, sum[i][j]);
            }
        }
    }

    finish_sums(sum, c, m, group, count);
}

}  // namespace detail

}  // namespace tessera::ntt
