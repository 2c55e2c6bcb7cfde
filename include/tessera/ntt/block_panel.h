#pragma once

#include "tessera/ntt/operands.h"
#include "tessera/ntt/register_block.h"
#include "tessera/ntt/split_quads.h"

// Groups of B as products of blocks take them, made once for many rows of A: numbers are spread over bytes or
// shorts, and the factors of every block are decoded, once for all blocks of rows and not again for each. A
// panel has few k, so that it stays in the nearest cache with the sums of its rows. With 5 and 6 bits and
// AVX2 products are a quarter to a third faster so, with 4 and 8 as fast as without.

namespace tessera::ntt::detail {

/// k of a panel, if it is blocks of as many.
inline constexpr int64_t kBlockPanelDepth = 512;

/// Sums of the rows that pass a panel: 16 KiB.
inline constexpr int64_t kBlockPanelSums = 4096;

/// Groups [first, first + NR) of L lanes from a quad on, those of all groups at one quad beside each other;
/// where they are split, the even numbers of a group before its odd ones.
template <int NR, int L, int Bias, int Bits>
struct QuadPanel {
    static constexpr int kBias = Bias, kBits = Bits;

    const int32_t* data;
    int64_t first, first_quad;

    template <AnyVector V>
    [[gnu::always_inline]] QuadsOf<V> load_quads(int64_t group, int64_t quad) const {
        return ntt::load<QuadsOf<V>>(data + ((quad - first_quad) * NR + (group - first)) * L);
    }
    template <AnyVector V>
    [[gnu::always_inline]] SplitQuads<QuadsOf<V>> load_split_quads(int64_t group, int64_t quad) const {
        const int32_t* even = data + ((quad - first_quad) * NR + (group - first)) * (2 * L);
        return {ntt::load<QuadsOf<V>>(even), ntt::load<QuadsOf<V>>(even + L)};
    }
};

/// The factors of the same groups for each block of k.
template <int NR, int L, int Block>
struct FactorPanel {
    const float* data;
    int64_t first, first_k;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t group, int64_t k, Count) const {
        return ntt::load<V>(data + ((k - first_k) / Block * NR + (group - first)) * L);
    }
};

/// Sums of the rows from `first_row` on.
template <int NR, int L>
struct SumPanel {
    float* data;
    int64_t first_row, first;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V start(int64_t m, int64_t group, Count) const {
        return ntt::load<V>(at(m, group));
    }
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] void finish(int64_t m, int64_t group, V v, Count) const {
        store(at(m, group), v);
    }
    [[gnu::always_inline]] float* at(int64_t m, int64_t group) const {
        return data + ((m - first_row) * NR + (group - first)) * L;
    }
};

/// Initialises the sums of `rows` rows with C, or 0.
template <bool Accumulate, int NR, int L, Extent Count, class C>
[[gnu::always_inline]] inline void start_panel(SumPanel<NR, L> panel, const C& c, int64_t first_row,
                                               int64_t rows, int64_t group, Count count) {
    for (int64_t m = first_row; m < first_row + rows; ++m) {
        Vector<float, L> sum[1][NR];
        start_sums<Accumulate>(sum, c, m, group, count);
        finish_sums(sum, panel, m, group, Int<L>{});
    }
}

/// Writes the sums to C.
template <int NR, int L, Extent Count, class C>
[[gnu::always_inline]] inline void finish_panel(SumPanel<NR, L> panel, const C& c, int64_t first_row,
                                                int64_t rows, int64_t group, Count count) {
    for (int64_t m = first_row; m < first_row + rows; ++m) {
        Vector<float, L> sum[1][NR];
        start_sums<true>(sum, panel, m, group, Int<L>{});
        finish_sums(sum, c, m, group, count);
    }
}

/// Writes the quads [begin, end) of NR groups of B.
template <bool Split, int NR, int L, class B>
[[gnu::always_inline]] inline void fill_quads(const B& b, int64_t group, int64_t begin, int64_t end,
                                              int32_t* out) {
    using V = Vector<float, L>;
    for (int64_t quad = begin; quad < end; ++quad) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if constexpr (Split) {
                const auto split = b.template load_split_quads<V>(group + j, quad);
                store(out, split.even);
                store(out + L, split.odd);
                out += 2 * L;
            } else {
                store(out, b.template load_quads<V>(group + j, quad));
                out += L;
            }
        }
    }
}

/// The source of the next panel: as many bytes of each of its groups. They need not exist.
struct NextPanel {
    const char* data;
    int64_t stride_group, bytes;

    /// Asks for this line of each group, if there are so many: blocks of rows that pass the panel before it
    /// take turns.
    template <int NR>
    [[gnu::always_inline]] void fetch(int64_t line) const {
        if (line * kLineBytes >= bytes) return;
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) __builtin_prefetch(data + (j * stride_group + line * kLineBytes), 0, 2);
    }
};

/// The quads [begin, end) of groups from `group` on.
template <class B>
[[gnu::always_inline]] inline NextPanel next_panel(const B& b, int64_t group, int64_t begin, int64_t end) {
    const char* data = byte_at(b.address(group, begin));
    return {data, byte_at(b.address(group + 1, begin)) - data, byte_at(b.address(group, end)) - data};
}

/// Writes the factors of the groups for the blocks [begin, end) of k.
template <int NR, int L, int Block, Extent Count, class Factors>
[[gnu::always_inline]] inline void fill_factors(const Factors& factors, int64_t group, Count count,
                                                int64_t begin, int64_t end, float* out) {
    for (int64_t block = begin; block < end; ++block) {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j, out += L)
            store(out, factors.template load<Vector<float, L>>(group + j, block * Block, count));
    }
}

}  // namespace tessera::ntt::detail
