#pragma once

#include <initializer_list>

#include "tessera/ntt/contract_folded.h"
#include "tessera/ntt/contract_tiles.h"

// Contractions of int8 in blocks of k (contract_blocks.h) on a matrix unit for signed bytes. Both bytes of
// A's numbers are multiplied by one byte of B's, or by two where integers of a foldable coefficient are
// multiplied into these; the sums of each pair of bytes are a tile of their own, and are put together behind
// the last:
//
//     A = radix * high + low      A B = low low + radix * high low
//     B = 256 * high + low              + 256 * (low high + radix * high high)

namespace tessera::ntt {

/// The tiles of a contraction in blocks. A block of them is `tile_rows` x `lanes` of C in four tiles, with
/// one of each byte of A, and two tiles of B: two groups of one byte, or one of two.
struct ContractBlockTilesTile {
    int tile_rows;            ///< m of one tile of A and C
    int lanes;                ///< L: n of one tile of B and C
    int depth;                ///< k of one tile of A and B, a multiple of 4 that divides the `Fold`
    int groups;               ///< groups of L consecutive n in one panel of B
    int block;                ///< k that share a coefficient and an offset, a multiple of 4
    int a_block;              ///< k that share a scale of A, a multiple of `block`
    int zero = 0;             ///< added to every number of B
    bool accumulate = false;  ///< start from C instead of 0
};

namespace detail {

inline constexpr int kBytesOfA = 2;

/// Numbers of A that are laid in tiles on the stack: 1 MiB.
inline constexpr int64_t kTiledNumbers = 524288;

/// Bytes of B's numbers, times their integers if there are some.
template <class B, class Scale, int Zero>
constexpr int bytes_of_numbers() {
    constexpr int kSmallest = Zero - B::kBias, kLargest = kSmallest + (1 << B::kBits) - 1;
    if constexpr (std::same_as<Scale, NoScale>) {
        return kSmallest >= -128 && kLargest <= 127 ? 1 : 2;
    } else {
        static_assert(kSmallest >= -128 && kLargest <= 127, "times 255, they are two signed bytes");
        return 2;
    }
}

/// Shorts of even and of odd k as quads of two signed bytes each, short = 256 * upper + lower.
template <AnyVector Q>
[[gnu::always_inline]] inline Q lower_bytes(SplitQuads<Q> shorts) {
    return (shorts.even & 0x00ff00ff) | (shorts.odd << 8 & static_cast<int32_t>(0xff00ff00));
}
template <AnyVector Q>
[[gnu::always_inline]] inline Q upper_bytes(SplitQuads<Q> shorts) {
    const auto rounded = [](Q x) {
        return map<Q>(
            []<class R>(R numbers) {
                return native::same_bits<R>(native::same_bits<UnsignedShortsIn<R>>(numbers) + uint16_t{128});
            },
            x);
    };
    const auto odd = map<Q>([]<class R>(R numbers) { return odd_unsigned(numbers); }, rounded(shorts.even));
    return (odd & 0x00ff00ff) | (rounded(shorts.odd) & static_cast<int32_t>(0xff00ff00));
}

/// Sums of products of bytes, those of one pair of bytes after those of another in each group, the groups
/// beside each other in each `Fold` of k.
template <int NR, int L, int TileRows, int Bytes, int Radix>
struct ByteProducts {
    static constexpr int kTile = TileRows * L;

    const int32_t* data;
    int64_t first_row, first;

    template <class I, int MR>
    [[gnu::always_inline]] void add(I (&sums)[MR][NR], int64_t m, int64_t group, int part) const {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            const int32_t* tiles = data + (part * NR + (group - first) + j) * (kBytesOfA * Bytes * kTile);
#pragma GCC unroll 64
            for (int i = 0; i < MR; ++i) {
                const int32_t* row = tiles + (m - first_row + i) * L;
                I sum = of_byte<I>(row);
                if constexpr (Bytes == 2) sum = scaled<256>(of_byte<I>(row + kBytesOfA * kTile), sum);
                sums[i][j] = sums[i][j] + sum;
            }
        }
    }

private:
    /// All of A times one byte of B.
    template <class I>
    [[gnu::always_inline]] static I of_byte(const int32_t* row) {
        return scaled<Radix>(ntt::load<I>(row), ntt::load<I>(row + kTile));
    }
    /// high * Factor + low; the whole is an int32_t, its parts need not be.
    template <int Factor, class I>
    [[gnu::always_inline]] static I scaled(I high, I low) {
        return map<I>(
            []<class R>(R x, R y) {
                using Unsigned = native::Register<uint32_t, sizeof(R) / 4>;
                return native::same_bits<R>(native::same_bits<Unsigned>(x) * uint32_t{Factor} +
                                            native::same_bits<Unsigned>(y));
            },
            high, low);
    }
};

/// A contraction of folded numbers in tiles. `bytes` are those of the rows [first, first + rows) of A for one
/// panel after those for another, for each the rows of one tile after those of another: first the high bytes
/// of all its k, tile by tile, then the low ones.
template <ContractBlockTilesTile Tile, class Unit, int Fold, int Bytes, int Radix>
struct FoldedTiles {
    static constexpr int L = Tile.lanes, kDepth = Tile.depth;
    static constexpr int kGroups = 2 / Bytes;  ///< groups that have their sums in tiles at once
    static constexpr int kSteps = Fold / kDepth, kFolds = Tile.a_block / Fold;
    static constexpr int64_t kPanelOfRows = int64_t{kBytesOfA} * Tile.tile_rows * Tile.a_block;
    static constexpr int64_t kTileOfB = kDepth / 4 * L;  ///< in numbers of 32 bits
    static_assert(Fold % kDepth == 0);

    Unit& unit;
    const int8_t* bytes;
    int64_t first, rows;

    /// Size of a panel of so many groups, in numbers of 32 bits.
    static constexpr int64_t panel_numbers(int64_t groups) { return Tile.a_block / 4 * Bytes * groups * L; }

    /// Tiles: of C for a byte of A and one of B, of which the groups have theirs after one another.
    static constexpr int c(int of_a, int of_b) { return of_b * kBytesOfA + of_a; }
    static constexpr int a(int of_a) { return c(0, kGroups * Bytes) + of_a; }
    static constexpr int b(int of_b) { return a(kBytesOfA) + of_b; }
    static_assert(b(kGroups * Bytes) == kTiles);

    static constexpr TileConfiguration configuration() {
        TileConfiguration tiles;
        for (int of_a = 0; of_a < kBytesOfA; ++of_a) {
            tiles.set(a(of_a), Tile.tile_rows, kDepth);
            for (int of_b = 0; of_b < kGroups * Bytes; ++of_b)
                tiles.set(c(of_a, of_b), Tile.tile_rows, 4 * L);
        }
        for (int of_b = 0; of_b < kGroups * Bytes; ++of_b) tiles.set(b(of_b), kDepth / 4, 4 * L);
        return tiles;
    }

    /// Tiles of B: of each group, and each byte of it, after one another, for one `depth` of k after another.
    template <int NR, Extent Count, class B, class Scale>
    [[gnu::always_inline]] void fill(const B& of_b, const Scale& scale, int64_t group, Count count,
                                     int64_t begin, int32_t* panel) const {
        using V = Vector<float, L>;
        using Q = QuadsOf<V>;
        const Q zero = twice(broadcast<Q>(Tile.zero - B::kBias));
        constexpr int kQuads = Tile.block / 4;
        for (int64_t block = 0; block < Tile.a_block / Tile.block; ++block) {
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                Q factor = twice(broadcast<Q>(1));
                if constexpr (!std::same_as<Scale, NoScale>)
                    factor = twice(convert<int32_t>(
                        scale.template load<V>(group + j, (begin + block) * Tile.block, count)));
                for (int64_t quad = block * kQuads; quad < (block + 1) * kQuads; ++quad) {
                    const auto split = of_b.template load_split_quads<V>(group + j, begin * kQuads + quad);
                    const SplitQuads<Q> shorts{folded(split.even, zero, factor),
                                               folded(split.odd, zero, factor)};
                    const int64_t step = quad / (kDepth / 4), row = quad % (kDepth / 4);
                    int32_t* to = panel + (step * NR + j) * (Bytes * kTileOfB) + row * L;
                    store(to, lower_bytes(shorts));
                    if constexpr (Bytes == 2) store(to + kTileOfB, upper_bytes(shorts));
                }
            }
        }
    }

    template <int NR, class Sums>
    [[gnu::always_inline]] void multiply(int64_t first_row, int64_t some, int64_t group, const int32_t* panel,
                                         NextPanel next, const Sums& sums) const {
        const int64_t of_k = sums.begin * Tile.block / Tile.a_block * ceil_div(rows, Tile.tile_rows);
        for (int64_t i = 0; i < some; i += Tile.tile_rows) {
            next.fetch<NR>(i / Tile.tile_rows);
            const int64_t of_m = (first_row - first + i) / Tile.tile_rows;
            add_row_of_tiles<NR>(first_row + i, min(some - i, int64_t{Tile.tile_rows}), group,
                                 bytes + (of_k + of_m) * kPanelOfRows, panel, sums);
        }
    }

private:
    /// The rows of one tile. A separate function, since this code does not depend on the encoding of B.
    template <int NR, class Sums>
    [[gnu::noinline]] void add_row_of_tiles(int64_t m, int64_t height, int64_t group, const int8_t* rows_of_a,
                                            const int32_t* panel, Sums sums) const {
        constexpr int kTileOfC = Tile.tile_rows * L;
        alignas(64) int32_t products[kFolds * NR * Bytes * kBytesOfA * kTileOfC];
        for (int part = 0; part < kFolds; ++part) {
            for_blocks<kGroups>(
                Int<NR>{}, [&](auto groups, int64_t j) __attribute__((always_inline)) {
                    add_fold<NR, groups.value>(rows_of_a + part * (Tile.tile_rows * Fold),
                                               panel + (part * kSteps * NR + j) * (Bytes * kTileOfB),
                                               products + (part * NR + j) * (Bytes * kBytesOfA * kTileOfC));
                });
        }
        const ByteProducts<NR, L, Tile.tile_rows, Bytes, Radix> of_bytes{products, m, group};
        for_blocks<4>(
            height, [&](auto here, int64_t i) __attribute__((always_inline)) {
                sums.template add<here.value, NR>(m + i, group, of_bytes);
            });
    }

    /// Some groups and one `Fold` of k.
    template <int NR, int Groups>
    [[gnu::always_inline]] void add_fold(const int8_t* rows_of_a, const int32_t* panel,
                                         int32_t* products) const {
        constexpr int64_t kLowBytes = int64_t{Tile.tile_rows} * Tile.a_block;
        constexpr int kTileOfC = Tile.tile_rows * L;
        const auto for_all_c = [](auto f) __attribute__((always_inline)) {
            for_constants<Groups * Bytes>([&](auto of_b) __attribute__((always_inline)) {
                for_constants<kBytesOfA>([&](auto of_a) __attribute__((always_inline)) { f(of_a, of_b); });
            });
        };
        for_all_c([&](auto of_a, auto of_b)
                      __attribute__((always_inline)) { unit.template zero<c(of_a.value, of_b.value)>(); });
        for (int step = 0; step < kSteps; ++step) {
            for_constants<kBytesOfA>([&](auto of_a) __attribute__((always_inline)) {
                unit.template load<a(of_a.value)>(
                    rows_of_a + (of_a.value * kLowBytes + step * (Tile.tile_rows * kDepth)), kDepth);
            });
            for_constants<Groups * Bytes>([&](auto of_b) __attribute__((always_inline)) {
                unit.template load<b(of_b.value)>(panel + (step * (NR * Bytes) + of_b.value) * kTileOfB,
                                                  4 * L);
                for_constants<kBytesOfA>([&](auto of_a) __attribute__((always_inline)) {
                    unit.template add_byte_products<c(of_a.value, of_b.value), a(of_a.value),
                                                    b(of_b.value)>();
                });
            });
        }
        for_all_c([&](auto of_a, auto of_b) __attribute__((always_inline)) {
            unit.template store<c(of_a.value, of_b.value)>(
                products + (of_b.value * kBytesOfA + of_a.value) * kTileOfC, 4 * L);
        });
    }
};

/// Lays the bytes of the rows [first, first + rows) of A as FoldedTiles takes them; 0 behind the last row.
template <ContractBlockTilesTile Tile, class A>
inline void lay_bytes(const A& a, int64_t first, int64_t rows, int64_t k_extent, int8_t* out) {
    for (int64_t begin = 0; begin < k_extent; begin += Tile.a_block) {
        for (int64_t m = 0; m < rows; m += Tile.tile_rows) {
            for (const auto* byte : {&a.high, &a.low}) {
                for (int64_t k = begin; k < begin + Tile.a_block; k += Tile.depth) {
                    for (int64_t i = m; i < m + Tile.tile_rows; ++i, out += Tile.depth) {
                        if (i < rows) {
                            __builtin_memcpy(out, byte->data + ((first + i) * byte->stride_m + k),
                                             Tile.depth);
                        } else {
                            __builtin_memset(out, 0, Tile.depth);
                        }
                    }
                }
            }
        }
    }
}

}  // namespace detail

/// The largest K of contract_block_tiles.
inline constexpr int64_t kContractBlockTilesK = detail::kTiledNumbers / kTileRows;

/// The result of contract_blocks for row_terms `a` and a `foldable` coefficient, for any number of rows, with
/// the bits of its panels (contract_folded.h): sums of all products are integers, so the split into bytes
/// does not matter. K % a_block == 0, K <= kContractBlockTilesK. The last group of `b` is read whole, and
/// nothing else beyond M, N and K.
template <ContractBlockTilesTile Tile, class Unit = TileUnit, Extent M, Extent N, Extent K, int Radix,
          class A, class AScale, class B, class Coefficient, class Offset, Extent CM, Extent CG>
requires detail::IsFoldable<Coefficient> && LaneQuadsOperand<B, Vector<float, Tile.lanes>>
inline void contract_block_tiles(M m_extent, N n_extent, K k_extent, RowTerms<Radix, A> a, AScale a_scale,
                                 B b, Coefficient coefficient, Offset offset, Result<CM, CG> c) {
    static_assert(Tile.tile_rows >= 1 && Tile.tile_rows <= kTileRows);
    static_assert(Tile.lanes >= 1 && 4 * Tile.lanes <= kTileRowBytes && Tile.groups >= 1);
    static_assert(Tile.depth >= 4 && Tile.depth % 4 == 0 && Tile.depth <= kTileRowBytes);
    static_assert(Tile.block % 4 == 0 && Tile.a_block % Tile.block == 0);
    constexpr ContractBlocksTile kTile{.lanes = Tile.lanes,
                                       .rows = Tile.tile_rows,
                                       .groups = Tile.groups,
                                       .block = Tile.block,
                                       .a_block = Tile.a_block,
                                       .zero = Tile.zero,
                                       .accumulate = Tile.accumulate};
    using Scale = decltype(coefficient.scale);
    using Numbers = detail::FoldedTiles<Tile, Unit, Coefficient::kFold,
                                        detail::bytes_of_numbers<B, Scale, Tile.zero>(), Radix>;
    const int64_t blocks = k_extent / Tile.block;
    if (blocks == 0) {
        if constexpr (!Tile.accumulate) {
            for_groups<Tile.lanes, 1>(n_extent, [&](auto, int64_t group, auto count) {
                for (int64_t m = 0; m < m_extent; ++m)
                    c.finish(m, group, broadcast<Vector<float, Tile.lanes>>(0.0f), count);
            });
        }
        return;
    }
    alignas(64) int8_t bytes[detail::kBytesOfA * detail::kTiledNumbers];
    float a_sums[detail::kBlockSums];
    Unit unit;
    unit.configure(Numbers::configuration());
    const int64_t k = blocks * Tile.block;
    detail::for_parts<Tile.tile_rows>(
        m_extent, min(detail::kTiledNumbers / k, detail::kBlockSums / blocks),
        [&](int64_t first, int64_t rows) {
            if constexpr (!std::same_as<Offset, NoOffset>)
                detail::sum_blocks<Tile.block>(a, first, rows, blocks, 1, a_sums);
            detail::lay_bytes<Tile>(a, first, rows, k, bytes);
            const Numbers numbers{unit, bytes, first, rows};
            for_groups<Tile.lanes, Tile.groups>(
                n_extent, [&](auto groups, int64_t group, auto count) __attribute__((always_inline)) {
                    detail::contract_folded<kTile, groups.value>(
                        first, rows, group, count, blocks, detail::BlockSums<float>{a_sums, first, blocks},
                        numbers, a_scale, b, coefficient, offset, c);
                });
        });
    unit.release();
}

}  // namespace tessera::ntt
