#pragma once

#include "tessera/ntt/blocks.h"
#include "tessera/ntt/operands.h"
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

/// Of a block with MR tiles of rows, of which the last one has `last` rows.
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

template <ContractTilesTile Tile, class Unit, class A, class B, class C>
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

    /// Of the last tile of rows only the first `last` are there, and of a group the first `width` columns: an
    /// Int<L> in whole groups.
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
            // What follows a row, or the last pair, is not A's and B's: copies that end with 0.
            alignas(64) bf16 a_end[MR][Tile.tile_rows * Tile.depth] = {};
            alignas(64) bf16 b_end[NR][Tile.depth * Tile.lanes] = {};
            for (int i = 0; i < MR; ++i)
                copy_rows(a_end[i], int64_t{Tile.depth}, a_at(m, i, steps), int64_t{a_.stride_m}, height(i),
                          rest);
            for (int j = 0; j < NR; ++j)
                copy_rows(b_end[j], int64_t{2 * Tile.lanes}, b_at(group + j, steps), int64_t{b_.stride_pair},
                          (rest + 1) / 2, int64_t{2 * Tile.lanes});
            add_products<MR, NR>([&](int i) { return a_end[i]; }, kRowBytesOfA,
                                 [&](int j) { return b_end[j]; }, kRowBytes);
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
/// to begin with, and what flushing to 0 adds: for each product 2^-125 and, where a factor is below 2^-126,
/// the product.
template <ContractTilesTile Tile, class Unit = TileUnit, Extent M, Extent N, Extent K, class P, Extent SM,
          Extent SG, Extent SP, Extent CM, Extent CG>
requires std::same_as<detail::Pointee<P>, bf16>
inline void contract_tiles(M m_extent, N n_extent, K k_extent, Rows<P, SM, Int<1>> a, LanePairs<SG, SP> b,
                           Result<CM, CG> c) {
    static_assert(Tile.tile_rows >= 1 && Tile.tile_rows <= kTileRows);
    static_assert(Tile.lanes >= 1 && 4 * Tile.lanes <= kTileRowBytes);
    static_assert(Tile.depth >= 2 && Tile.depth % 2 == 0 && 2 * Tile.depth <= kTileRowBytes);
    static_assert(Tile.depth / 2 <= kTileRows && Tile.rows >= 1 && Tile.groups >= 1 &&
                  Tile.tiles() <= kTiles);
    detail::TileContraction<Tile, Unit, decltype(a), decltype(b), decltype(c)> contraction(k_extent, a, b, c);
    constexpr int64_t kBlock = int64_t{Tile.rows} * Tile.tile_rows;
    const int64_t m = m_extent, n = n_extent, rest = m % kBlock;
    if (m > rest) contraction.template rows<Tile.rows>(0, m - rest, n);
    detail::for_constants<Tile.rows>([&](auto i) __attribute__((always_inline)) {
        constexpr int kRows = i.value + 1;
        if (rest > 0 && (rest + Tile.tile_rows - 1) / Tile.tile_rows == kRows)
            contraction.template rows<kRows>(m - rest, rest, n);
    });
}

}  // namespace tessera::ntt
