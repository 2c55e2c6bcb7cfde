#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/blocks.h"
#include "tessera/ntt/fetch_lanes.h"
#include "tessera/ntt/paired_lanes.h"
#include "tessera/ntt/register_block.h"
#include "tessera/ntt/wide_panel.h"
#include "tessera/ntt/wide_rows.h"

namespace tessera::ntt {

/// The register block of a contraction, with lanes along n. `rows` x `groups` accumulators of `lanes` lanes
/// are live, with one register for each group of B and one for A: the plan chooses them so that they fit the
/// machine.
struct ContractTile {
    int lanes;                ///< L: consecutive n in one vector
    int rows;                 ///< m in one block
    int groups;               ///< groups of L consecutive n in one block
    int k_unroll = 1;         ///< steps of k, or of pairs of k, in one turn of the loop
    bool accumulate = false;  ///< start from C instead of 0
    bool b_padded = false;    ///< the last group of B can be read whole
    int prefetch = 0;         ///< bytes by which lines of B are fetched ahead, but not by panels; 0: never
    int streams = 1;          ///< parts of n of which a block has a group each: 1, or `groups`
    bool dot = false;         ///< add pairs of k by dot_add; A is of pairs, and B is or they are made
    int partial_sums = 1;     ///< sums of each row and group, which take the steps of k in turns
    int panel_blocks = 0;     ///< if there are this many blocks of rows, B is widened by panels; 0: never
};

/// F32 of a panel of B that is widened on the stack: 256 KiB, of a second cache of 512.
inline constexpr int64_t kContractPanel = 65536;

/// Numbers of rows of f16 or bf16 that are kept as F32 on the stack, unless pairs are added by dot_add: 128
/// KiB, beside which a panel of B fits a second cache of 512.
inline constexpr int64_t kContractWide = 32768;

/// For at least this many of these rows, K is cut so that they have room together: B is read, and widened or
/// decoded, once for all of them.
inline constexpr int64_t kContractWideRows = 32;

namespace detail {

/// In every encoding of weights, the number of neighbouring k that share a scale is this or a divisor.
inline constexpr int64_t kLargestBlock = 256;

/// True if B comes in pairs of k.
template <ContractTile Tile, class B>
inline constexpr bool kIsPaired = LanePairsOperand<B, Vector<float, Tile.lanes>>;

/// The lanes of one group at one step: as many k as B gives at a time, of which the first `Depth` exist.
template <ContractTile Tile, int Depth, class B, Extent Count>
[[gnu::always_inline]] inline auto load_step(const B& b, int64_t group, int64_t step, Count count) {
    using V = Vector<float, Tile.lanes>;
    const auto valid = [&] {
        if constexpr (Tile.b_padded) {
            return Int<Tile.lanes>{};
        } else {
            return count;
        }
    }();
    if constexpr (!kIsPaired<Tile, B>) {
        return b.template load<V>(group, step, valid);
    } else if constexpr (Depth == 1 && kMakesPairs<B>) {
        return b.template load_single<V>(group, step, valid);
    } else {
        return b.template load_pairs<V>(group, step, valid);
    }
}

/// sum[i] += A[m + i, k] * b for one k.
template <int MR, int NR, class V, class A>
[[gnu::always_inline]] inline void add_products(V (&sum)[MR][NR], const A& a, int64_t m, int64_t k,
                                                const V (&b)[NR]) {
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i) {
        const V a_mk = a.template load<V>(m + i, k);
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) sum[i][j] = fma(a_mk, b[j], sum[i][j]);
    }
}

/// The same for k and k + 1, k even, of which the first `Depth` exist.
template <bool Dot, int Depth, int MR, int NR, class V, class A>
[[gnu::always_inline]] inline void add_pairs(V (&sum)[MR][NR], const A& a, int64_t m, int64_t k,
                                             const PairsOf<V> (&b)[NR]) {
    if constexpr (Dot) {
#pragma GCC unroll 64
        for (int i = 0; i < MR; ++i) {
            const auto a_pair = a.template load_pair<V>(m + i, k, Int<Depth>{});
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) sum[i][j] = dot_add(sum[i][j], a_pair, b[j]);
        }
    } else {
        V wide[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) wide[j] = widen_even(b[j]);
        add_products(sum, a, m, k, wide);
        if constexpr (Depth == 2) {
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) wide[j] = widen_odd(b[j]);
            add_products(sum, a, m, k + 1, wide);
        }
    }
}

/// Calls step(at, index in its turn) for begin <= at < end in order, Unroll of them in one turn of the loop,
/// then Parts, a divisor, and the rest in turns of one; begin is a multiple of Unroll.
template <int Unroll, int Parts = 1, class F>
[[gnu::always_inline]] inline void for_steps(int64_t begin, int64_t end, F step) {
    int64_t at = begin;
    if constexpr (Unroll > 1) {
        // From at | u the compiler sees that (at | u) / 32 is at / 32, so an operand that decodes reads its
        // factors for 32 steps once in a turn.
        constexpr bool kIsPowerOfTwo = (Unroll & (Unroll - 1)) == 0;
        for (; at + Unroll <= end; at += Unroll) {
#pragma GCC unroll 64
            for (int u = 0; u < Unroll; ++u) step(kIsPowerOfTwo ? at | u : at + u, u);
        }
    }
    if constexpr (Parts > 1 && Parts < Unroll) {
        for_steps<Parts>(at, end, step);
    } else {
        for (; at < end; ++at) step(at, 0);
    }
}

/// One block: MR rows, NR groups of those of n columns, the k of [begin, end), each sum in their order.
/// `begin` is a multiple of kLargestBlock; unless it is 0, sums go on from C.
template <ContractTile Tile, int MR, int NR, class Group, Extent Count, Extent Begin, Extent End, class A,
          class B, class C, class... Sums>
[[gnu::always_inline]] inline void contract_block(int64_t m, Group group, Count count, int64_t n, Begin begin,
                                                  End end, A a, B b, C c, Sums... sums_around) {
    using V = Vector<float, Tile.lanes>;
    V sums[Tile.partial_sums][MR][NR];
    if constexpr (std::same_as<Begin, Int<0>>) {
        start_sums<Tile.accumulate>(sums[0], c, m, group, count);
    } else if (begin == 0) {
        start_sums<Tile.accumulate>(sums[0], c, m, group, count);
    } else {
        resume_sums(sums[0], c, m, group, count);
    }
#pragma GCC unroll 64
    for (int p = 1; p < Tile.partial_sums; ++p) fill_with(sums[p], broadcast<V>(0.0f));

    constexpr int kDepth = kIsPaired<Tile, B> ? 2 : 1;  // of one step
    using Fetch = FetchLanes<Tile.prefetch, NR, Tile.lanes, B, Group>;
    constexpr int kLeast = Tile.partial_sums < Fetch::kTurn ? Fetch::kTurn : Tile.partial_sums;
    constexpr int kUnroll = Tile.k_unroll < kLeast ? kLeast : Tile.k_unroll;
    static_assert(kUnroll % kLeast == 0 && kLeast % Tile.partial_sums == 0,
                  "a turn begins with the first of the partial sums");
    const auto add_steps = [&](const A& a_there, const B& b_there) __attribute__((always_inline)) {
        const Fetch fetch(b_there, group, n, begin, end);
        const auto step = [&](int64_t at, auto depth, int turn) __attribute__((always_inline)) {
            V(&sum)[MR][NR] = sums[turn % Tile.partial_sums];
            std::conditional_t<kDepth == 2, PairsOf<V>, V> b_group[NR];
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                fetch(j, at);
                b_group[j] = load_step<Tile, depth.value>(b_there, group + j, at, count);
            }
            if constexpr (kDepth == 2) {
                add_pairs<Tile.dot, depth.value>(sum, a_there, m, 2 * at, b_group);
            } else {
                add_products(sum, a_there, m, at, b_group);
            }
        };
        const int64_t steps = end / kDepth;
        for_steps<kUnroll, Tile.partial_sums>(
            begin / kDepth, steps, [&](int64_t at, int turn) __attribute__((always_inline)) {
                step(at, Int<kDepth>{}, turn);
            });
        if constexpr (kDepth == 2) {
            if (end % 2 != 0) step(steps, Int<1>{}, 0);
        }
    };
    for_outer_sums(add_steps, a, b, sums_around...);

    add_partial_sums(sums);
    finish_sums(sums[0], c, m, group, count);
}

/// Rows [first, first + rows) of C, the k of [begin, end).
template <ContractTile Tile, Extent M, Extent N, Extent Begin, Extent End, class A, class B, class C,
          class... Sums>
[[gnu::always_inline]] inline void contract_rows(int64_t first, M rows, N n_extent, Begin begin, End end, A a,
                                                 B b, C c, Sums... sums_around) {
    const auto rows_of = [&](auto groups, auto group, auto count) __attribute__((always_inline)) {
        for_blocks<Tile.rows>(
            rows, [&](auto block_rows, int64_t i) __attribute__((always_inline)) {
                contract_block<Tile, block_rows.value, groups.value>(first + i, group, count, n_extent, begin,
                                                                     end, a, b, c, sums_around...);
            });
    };
    if constexpr (Tile.streams > 1) {
        for_streams<Tile.lanes, Tile.streams>(n_extent, rows_of);
    } else {
        for_groups<Tile.lanes, Tile.groups>(n_extent, rows_of);
    }
}

/// The number of narrow rows that share the room for widened numbers: each has as many k as the others leave.
template <Extent M>
constexpr int64_t rows_together(M rows) {
    return rows < 1 ? 1 : rows < kContractWideRows ? int64_t{rows} : kContractWideRows;
}

/// contract for narrow rows: as many at a time as there is room for, with all of K if that leaves room for
/// kContractWideRows, otherwise with as many k as leave it.
template <ContractTile Tile, Extent M, Extent N, Extent K, class A, class B, class C>
[[gnu::always_inline]] inline void contract_widened(M m_extent, N n_extent, K k_extent, A a, B b, C c) {
    float wide[kContractWide];
    const auto contract_depth = [&](auto begin, auto end) __attribute__((always_inline)) {
        const int64_t depth = end - begin;
        const auto contract_part = [&](int64_t first, auto rows) __attribute__((always_inline)) {
            widen_rows(a, first, rows, begin, depth, wide);
            contract_rows<Tile>(first, rows, n_extent, begin, end, WideRows{wide, first, begin, depth}, b, c);
        };
        if constexpr (std::same_as<M, Int<1>>) {
            contract_part(0, m_extent);
        } else {
            for_parts<Tile.rows>(m_extent, kContractWide / (depth > 0 ? depth : 1), contract_part);
        }
    };
    constexpr bool kHasRoom = [] {
        if constexpr (kIsStatic<K>) {
            if constexpr (kIsStatic<M>) return K::value * rows_together(M{}) <= kContractWide;
            return K::value * kContractWideRows <= kContractWide;
        }
        return false;
    }();
    if constexpr (kHasRoom) {
        contract_depth(Int<0>{}, k_extent);
    } else {
        const int64_t k = k_extent;
        const int64_t fitting = kContractWide / rows_together(m_extent) / kLargestBlock * kLargestBlock;
        int64_t begin = 0;
        do {  // once if K is 0: C is 0 then
            const int64_t end = k - begin < fitting ? k : begin + fitting;
            contract_depth(begin, end);
            begin = end;
        } while (begin < k);
    }
}

/// B[n, k] of NR groups for k in [begin, end), as WidePanel reads it; `begin` is even.
template <ContractTile Tile, int NR, Extent Count, class B>
[[gnu::always_inline]] inline void widen_panel(const B& b, int64_t group, Count count, int64_t begin,
                                               int64_t end, float* out) {
    const auto wide = [&](int64_t k, int j) { return out + ((k - begin) * NR + j) * Tile.lanes; };
    if constexpr (kIsPaired<Tile, B>) {
        const auto widen_step = [&](int64_t pair, auto depth) __attribute__((always_inline)) {
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                const auto both = load_step<Tile, depth.value>(b, group + j, pair, count);
                store(wide(2 * pair, j), widen_even(both));
                if constexpr (depth.value == 2) store(wide(2 * pair + 1, j), widen_odd(both));
            }
        };
        for_steps<Tile.k_unroll>(
            begin / 2,
            end / 2, [&](int64_t pair, int) __attribute__((always_inline)) { widen_step(pair, Int<2>{}); });
        if (end % 2 != 0) widen_step(end / 2, Int<1>{});
    } else {
        for_steps<Tile.k_unroll>(
            begin, end, [&](int64_t k, int) __attribute__((always_inline)) {
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j) store(wide(k, j), load_step<Tile, 1>(b, group + j, k, count));
            });
    }
}

/// contract for many rows, each panel of B as F32: as many k at a time as there is room for, in whole blocks
/// of any encoding.
template <ContractTile Tile, Extent M, Extent N, class A, class B, class C>
inline void contract_by_panels(M m_extent, N n_extent, int64_t k_extent, A a, B b, C c) {
    constexpr ContractTile kTile = [] {
        ContractTile tile = Tile;
        tile.prefetch = 0;
        tile.k_unroll = tile.partial_sums = 1;
        return tile;
    }();
    alignas(64) float panel[kContractPanel];
    const auto contract_depth = [&](int64_t begin, int64_t depth) __attribute__((always_inline)) {
        const int64_t end = begin + depth;
        const auto with_panel = [&](auto groups, int64_t group, auto count) __attribute__((always_inline)) {
            widen_panel<Tile, groups.value>(b, group, count, begin, end, panel);
            const WidePanel<groups.value, Tile.lanes> wide{panel, group, begin};
            for_blocks<Tile.rows>(
                m_extent, [&](auto block_rows, int64_t i) __attribute__((always_inline)) {
                    contract_block<kTile, block_rows.value, groups.value>(i, group, count, n_extent, begin,
                                                                          end, a, wide, c);
                });
        };
        for_groups<Tile.lanes, Tile.groups>(n_extent, with_panel);
    };
    for_parts<kLargestBlock>(k_extent, kContractPanel / (Tile.groups * Tile.lanes), contract_depth);
}

}  // namespace detail

/// True if rows of A are widened for all n.
template <ContractTile Tile, class A>
inline constexpr bool kWidensRows = detail::kIsNarrow<A> && !Tile.dot;

/// The operands of contract: pairs of A too if these are added by dot_add; a C that holds the sums between
/// parts of K if K may be cut.
template <ContractTile Tile, class A, class B, class C, class V = Vector<float, Tile.lanes>>
concept Contraction = ResultOperand<C, V> &&
                      (ResumableResultOperand<C, V> || (Tile.panel_blocks == 0 && !kWidensRows<Tile, A>)) &&
                      ((Tile.dot && RowPairsOperand<A, V> &&
                        (LanePairsOperand<B, V> || PairableLanes<B, V>)) ||
                       (!Tile.dot && RowsOperand<A, V> && (LanesOperand<B, V> || LanePairsOperand<B, V>)));

/// C[m, n] (+)= sum_k A[m, k] * B[n, k] for m < M, n < N, k < K. Every sum is formed in the order of k by one
/// fused multiply-add after the other, so the result depends neither on the tile nor on how K is cut into
/// accumulating calls (of pairs: at even k). With `dot` each pair is added by dot_add, the odd k before the
/// even one; if B has addresses of its k, two of them are interleaved as they are read. `partial_sums` P > 1
/// take k = i, i + P, ... each (of pairs: pairs; the first takes all of a rest that fills no turn), and the
/// first then adds the others: in a block of few sums no addition waits for the one before, and the result
/// depends on P and on how K is cut. Blocks of n are the outer loop: a panel of B (K x groups x L) stays in
/// the nearest cache while the rows of A pass; with `streams` it has a group of each of as many parts of n. C
/// beyond N is not touched, nor B beyond N unless `b_padded`. Rows of f16 and bf16 are widened once for all
/// n, as many at a time as there is room for (kContractWide). With `panel_blocks`, for that many blocks of
/// rows of f32, B is widened or decoded instead, a panel once for all of them. `sums_around`, outermost
/// first, stand around that over k, as those over the window of a convolution: Rows and Lanes of f32 move
/// with them, and no sum leaves its register in between.
template <ContractTile Tile, Extent M, Extent N, Extent K, class A, class B, class C, class... Sums>
requires Contraction<Tile, A, B, C>
inline void contract(M m_extent, N n_extent, K k_extent, A a, B b, C c, Sums... sums_around) {
    constexpr bool kIsCut = Tile.panel_blocks > 0 || kWidensRows<Tile, A> || Tile.dot;
    static_assert(sizeof...(Sums) == 0 || !kIsCut, "K is cut outside of the sums around it");
    static_assert(Tile.rows >= 1 && Tile.groups >= 1 && Tile.k_unroll >= 1 && Tile.partial_sums >= 1);
    static_assert(Tile.streams == 1 || (Tile.streams == Tile.groups && Tile.panel_blocks == 0));
    const auto m = StoredExtent<M>(m_extent);
    const auto k = StoredExtent<K>(k_extent);
    if constexpr (Tile.panel_blocks > 0) {
        static_assert(!Tile.dot && !detail::kIsNarrow<A>);
        if (k > 0 && m >= int64_t{Tile.panel_blocks} * Tile.rows)
            return detail::contract_by_panels<Tile>(m, n_extent, k, a, b, c);
    }
    if constexpr (kWidensRows<Tile, A>) {
        detail::contract_widened<Tile>(m, n_extent, k, a, b, c);
    } else if constexpr (Tile.dot && !detail::kIsPaired<Tile, B>) {
        detail::contract_rows<Tile>(0, m, n_extent, Int<0>{}, k, a, PairedLanes<B>{b}, c);
    } else {
        detail::contract_rows<Tile>(0, m, n_extent, Int<0>{}, k, a, b, c, sums_around...);
    }
}

}  // namespace tessera::ntt
