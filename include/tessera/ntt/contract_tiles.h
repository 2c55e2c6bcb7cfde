#pragma once

#include "tessera/ntt/blocks.h"
#include "tessera/ntt/paired_lanes.h"
#include "tessera/ntt/register_block.h"
#include "tessera/ntt/tiles.h"

namespace tessera::ntt {

/// The block of tiles of a contraction, as the plan chooses it. `rows` x `groups` tiles of C are live, with
/// one of A for each row and one of B for each group: `tiles()` of the kTiles that there are.
struct ContractTilesTile {
    int tile_rows;            ///< m of one tile of A and C
    int lanes;                ///< L: n of one tile of B and C
    int depth;                ///< k of one tile of A and B, an even number
    int rows;                 ///< tiles of A in one block
    int groups;               ///< tiles of B in one block
    bool accumulate = false;  ///< start from C instead of 0

    constexpr int c(int row, int group) const { return row * groups + group; }
    constexpr int a(int row) const { return rows * groups + row; }
    constexpr int b(int group) const { return rows * groups + rows + group; }
    constexpr int tiles() const { return b(groups); }
};

/// Numbers of a panel of B that is laid in pairs on the stack: 256 KiB, of a second cache of 512.
inline constexpr int64_t kContractTilesPanel = 131072;

/// The configuration for a block with MR tiles of rows, of which the last one has `last` rows.
template <ContractTilesTile Tile, int MR>
constexpr TileConfiguration tile_configuration(int64_t last) {
    TileConfiguration configuration;
    for (int i = 0; i < MR; ++i) {
        const int64_t height = i + 1 == MR ? last : Tile.tile_rows;
        configuration.set(Tile.a(i), height, 2 * Tile.depth);
        for (int j = 0; j < Tile.groups; ++j) configuration.set(Tile.c(i, j), height, 4 * Tile.lanes);
    }
    for (int j = 0; j < Tile.groups; ++j) configuration.set(Tile.b(j), Tile.depth / 2, 4 * Tile.lanes);
    return configuration;
}

namespace detail {

/// f(Int<0>{}) to f(Int<N - 1>{}), in order.
template <int N, class F>
[[gnu::always_inline]] inline void for_constants(F f) {
    if constexpr (N > 0) {
        for_constants<N - 1>(f);
        f(Int<N - 1>{});
    }
}

/// `BIsWhole`: K ends in B with a whole tile, in which numbers behind K are 0.
template <ContractTilesTile Tile, class Unit, bool BIsWhole, class A, class B, class C>
class TileContraction {
public:
    TileContraction(int64_t k_extent, A a, B b, C c) : k_extent_(k_extent), a_(a), b_(b), c_(c) {}

    /// All columns of the `count` rows from m on, in blocks of MR tiles of rows, of which the last one of
    /// each block may have fewer rows than a tile: all blocks have as many then.
    template <int MR>
    void rows(int64_t m, int64_t count, int64_t n_extent) {
        const int64_t last = (count - 1) % Tile.tile_rows + 1;
        unit_.configure(tile_configuration<Tile, MR>(last));
        for_groups<Tile.lanes, Tile.groups>(
            n_extent, [&](auto groups, int64_t group, auto width) __attribute__((always_inline)) {
                for (int64_t begin = m; begin < m + count; begin += MR * Tile.tile_rows)
                    block<MR, groups.value>(begin, last, group, width);
            });
        unit_.release();
    }

private:
    static constexpr int64_t kRowBytes = 4 * Tile.lanes;
    static constexpr int64_t kRowBytesOfA = 2 * Tile.depth;

    /// Only the first `last` rows of the last tile exist, and the first `width` columns of a group: an Int<L>
    /// in whole groups.
    template <int MR, int NR, Extent Width>
    void block(int64_t m, int64_t last, int64_t group, Width width) {
        constexpr bool kIsWhole = kIsStatic<Width>;
        alignas(64) float edge[kIsWhole ? 1 : Tile.tile_rows * Tile.lanes] = {};
        const auto c_at = [&](int i, int j) {
            return c_.data + (m + i * Tile.tile_rows) * c_.stride_m + (group + j) * c_.stride_group;
        };
        const auto for_all_c = [&](auto f) __attribute__((always_inline)) {
            for_constants<MR>([&](auto i) __attribute__((always_inline)) {
                for_constants<NR>([&](auto j) __attribute__((always_inline)) { f(i, j); });
            });
        };
        const auto height = [&](int i) { return i + 1 == MR ? last : int64_t{Tile.tile_rows}; };

        for_all_c([&](auto i, auto j) __attribute__((always_inline)) {
            constexpr int kC = Tile.c(i.value, j.value);
            if constexpr (!Tile.accumulate) {
                unit_.template zero<kC>();
            } else if constexpr (kIsWhole) {
                unit_.template load<kC>(c_at(i, j), 4 * c_.stride_m);
            } else {
                copy_rows(edge, int64_t{Tile.lanes}, c_at(i, j), int64_t{c_.stride_m}, height(i), width);
                unit_.template load<kC>(edge, kRowBytes);
            }
        });

        const int64_t steps = k_extent_ / Tile.depth;
        for (int64_t step = 0; step < steps; ++step) {
            add_products<MR, NR>([&](int i) { return a_at(m, i, step); }, 2 * a_.stride_m,
                                 [&](int j) { return b_at(group + j, step); }, 2 * b_.stride_pair);
        }
        if (const int64_t rest = k_extent_ % Tile.depth; rest > 0) {
            // Memory behind a row, or behind the last pair, does not belong to A and B: these copies end with
            // 0.
            alignas(64) bf16 a_end[MR][Tile.tile_rows * Tile.depth] = {};
            for (int i = 0; i < MR; ++i)
                copy_rows(a_end[i], int64_t{Tile.depth}, a_at(m, i, steps), int64_t{a_.stride_m}, height(i),
                          rest);
            const auto of_a = [&](int i) { return a_end[i]; };
            if constexpr (BIsWhole) {
                add_products<MR, NR>(
                    of_a, kRowBytesOfA, [&](int j) { return b_at(group + j, steps); }, 2 * b_.stride_pair);
            } else {
                alignas(64) bf16 b_end[NR][Tile.depth * Tile.lanes] = {};
                for (int j = 0; j < NR; ++j)
                    copy_rows(b_end[j], int64_t{2 * Tile.lanes}, b_at(group + j, steps),
                              int64_t{b_.stride_pair}, (rest + 1) / 2, int64_t{2 * Tile.lanes});
                add_products<MR, NR>(
                    of_a, kRowBytesOfA, [&](int j) { return b_end[j]; }, kRowBytes);
            }
        }

        for_all_c([&](auto i, auto j) __attribute__((always_inline)) {
            constexpr int kC = Tile.c(i.value, j.value);
            if constexpr (kIsWhole) {
                unit_.template store<kC>(c_at(i, j), 4 * c_.stride_m);
            } else {
                unit_.template store<kC>(edge, kRowBytes);
                copy_rows(c_at(i, j), int64_t{c_.stride_m}, edge, int64_t{Tile.lanes}, height(i), width);
            }
        });
    }

    /// One tile along k; strides in bytes.
    template <int MR, int NR, class OfA, class OfB>
    [[gnu::always_inline]] void add_products(OfA of_a, int64_t a_stride, OfB of_b, int64_t b_stride) {
        for_constants<MR>([&](auto i) __attribute__((always_inline)) {
            unit_.template load<Tile.a(i.value)>(of_a(i.value), a_stride);
        });
        for_constants<NR>([&](auto j) __attribute__((always_inline)) {
            unit_.template load<Tile.b(j.value)>(of_b(j.value), b_stride);
            for_constants<MR>([&](auto i) __attribute__((always_inline)) {
                unit_.template add_products<Tile.c(i.value, j.value), Tile.a(i.value), Tile.b(j.value)>();
            });
        });
    }

    const bf16* a_at(int64_t m, int i, int64_t step) const {
        return a_.data + ((m + i * Tile.tile_rows) * a_.stride_m + step * Tile.depth);
    }
    const bf16* b_at(int64_t group, int64_t step) const {
        return b_.data + (group * b_.stride_group + step * (Tile.depth / 2) * b_.stride_pair);
    }

    template <class T>
    static void copy_rows(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t rows,
                          int64_t count) {
        for (int64_t row = 0; row < rows; ++row)
            __builtin_memcpy(to + row * to_stride, from + row * from_stride, sizeof(T) * count);
    }

    Unit unit_;
    int64_t k_extent_;
    A a_;
    B b_;
    C c_;
};

template <ContractTilesTile Tile, class Unit, bool BIsWhole, class A, class B, class C>
[[gnu::always_inline]] inline void contract_by_tiles(int64_t m, int64_t n, int64_t k, A a, B b, C c) {
    static_assert(Tile.tile_rows >= 1 && Tile.tile_rows <= kTileRows);
    static_assert(Tile.lanes >= 1 && 4 * Tile.lanes <= kTileRowBytes);
    static_assert(Tile.depth >= 2 && Tile.depth % 2 == 0 && 2 * Tile.depth <= kTileRowBytes);
    static_assert(Tile.depth / 2 <= kTileRows && Tile.rows >= 1 && Tile.groups >= 1 &&
                  Tile.tiles() <= kTiles);
    TileContraction<Tile, Unit, BIsWhole, A, B, C> contraction(k, a, b, c);
    constexpr int64_t kBlock = int64_t{Tile.rows} * Tile.tile_rows;
    const int64_t rest = m % kBlock;
    if (m > rest) contraction.template rows<Tile.rows>(0, m - rest, n);
    for_constants<Tile.rows>([&](auto i) __attribute__((always_inline)) {
        constexpr int kRows = i.value + 1;
        if (rest > 0 && (rest + Tile.tile_rows - 1) / Tile.tile_rows == kRows)
            contraction.template rows<kRows>(m - rest, rest, n);
    });
}

/// The columns of C of `n` lanes from group `first` on, the k of [begin, end): B in pairs in the panel, a
/// tile of it in consecutive addresses.
template <ContractTilesTile Tile, class Unit, class A, class B, class C>
inline void contract_tile_panel(int64_t m, int64_t first, int64_t n, int64_t begin, int64_t end, A a,
                                const PairedLanes<B>& b, C c, bf16* panel) {
    constexpr int64_t kPairNumbers = 2 * Tile.lanes;
    const int64_t pairs = ceil_div(end - begin, Tile.depth) * (Tile.depth / 2);
    for_groups<Tile.lanes, Tile.groups>(
        n, [&](auto groups, int64_t group, auto width) __attribute__((always_inline)) {
            lay_pairs<groups.value, Vector<float, Tile.lanes>>(b, first + group, width, begin, end, pairs,
                                                               panel + group * pairs * kPairNumbers);
        });
    a.data += begin;
    c.data += first * c.stride_group;
    contract_by_tiles<Tile, Unit, true>(m, n, end - begin, a,
                                        lane_pairs(panel, pairs * kPairNumbers, Int<kPairNumbers>{}), c);
}

/// Takes as many groups at a time as have room with all of K, in whole tiles. If K leaves no room for one
/// block of them, it is cut into as many whole tiles as fit.
template <ContractTilesTile Tile, class Unit, Extent K, class A, class B, class C>
inline void contract_by_tile_panels(int64_t m, int64_t n, K k_extent, A a, B b, C c) {
    constexpr int64_t kDepth = kContractTilesPanel / (Tile.groups * Tile.lanes) / Tile.depth * Tile.depth;
    constexpr bool kHasRoom = [] {
        if constexpr (kIsStatic<K>) return K::value <= kDepth;
        return false;
    }();
    alignas(64) bf16 panel[kContractTilesPanel];
    const PairedLanes<B> pairs{b};
    const int64_t k = k_extent;
    const int64_t depth = k > kDepth ? kDepth : k > 0 ? ceil_div(k, Tile.depth) * Tile.depth : Tile.depth;
    for_parts<Tile.groups>(
        ceil_div(n, Tile.lanes), kContractTilesPanel / (depth * Tile.lanes),
        [&](int64_t first, int64_t groups) {
            const int64_t columns = min(n - first * Tile.lanes, groups * Tile.lanes);
            // Also if K is 0: C is 0 then.
            contract_tile_panel<Tile, Unit>(m, first, columns, 0, min(k, depth), a, pairs, c, panel);
            if constexpr (!kHasRoom) {
                for (int64_t begin = depth; begin < k; begin += depth)
                    contract_tile_panel<accumulating(Tile), Unit>(m, first, columns, begin,
                                                                  min(k, begin + depth), a, pairs, c, panel);
            }
        });
}

}  // namespace detail

/// C[m, n] (+)= sum_k A[m, k] * B[n, k] on a matrix unit, for m < M, n < N, k < K, in blocks of tiles: B lies
/// in pairs of k as for `contract`, a tile of it is depth/2 pairs of one group, and a group is read whole
/// also where N ends in it. Nothing of A beyond K, of B beyond the last pair, of C beyond M and N is touched.
/// The tiles are configured once for the rows in whole blocks, and once for the others.
///
/// Each `depth` of k, from the first on, are summed apart, the even and the odd ones, then added to C; the
/// order depends on nothing else, so the bits do not change with the block or when K is cut into accumulating
/// calls at multiples of `depth`, and are those of EmulatedTiles whatever the unit. To first order the error
/// is at most (depth / 2 + ceil(K / depth)) 2^-24 times the sum of the magnitudes of all products and the C
/// to begin with, plus the effect of flushing to 0: for each product 2^-125 and, where a factor is below
/// 2^-126, the product.
template <ContractTilesTile Tile, class Unit = TileUnit, Extent M, Extent N, Extent K, class P, Extent SM,
          Extent SG, Extent SP, Extent CM, Extent CG>
requires std::same_as<detail::Pointee<P>, bf16>
inline void contract_tiles(M m_extent, N n_extent, K k_extent, Rows<P, SM, Int<1>> a, LanePairs<SG, SP> b,
                           Result<CM, CG> c) {
    detail::contract_by_tiles<Tile, Unit, false>(m_extent, n_extent, k_extent, a, b, c);
}

/// The same, to the bit, of a B that says where the lanes of each k lie: they are laid in pairs once for all
/// rows, a panel of kContractTilesPanel numbers at a time. Nothing of B beyond N and K is read.
template <ContractTilesTile Tile, class Unit = TileUnit, Extent M, Extent N, Extent K, class P, Extent SM,
          PairableLanes<Vector<float, Tile.lanes>> B, Extent CM, Extent CG>
requires std::same_as<detail::Pointee<P>, bf16>
inline void contract_tiles(M m_extent, N n_extent, K k_extent, Rows<P, SM, Int<1>> a, B b, Result<CM, CG> c) {
    detail::contract_by_tile_panels<Tile, Unit>(m_extent, n_extent, StoredExtent<K>(k_extent), a, b, c);
}

}  // namespace tessera::ntt
