// Contractions in blocks on a matrix unit, against plain loops: they have the bits of panels of shorts.

#include "tessera/ntt/contract_block_tiles.h"

#include <gtest/gtest.h>

#include "ntt/folded_operands.h"

namespace tessera::ntt {
namespace {

constexpr ContractBlocksTile without_tiles(ContractBlockTilesTile tile) {
    return {.lanes = tile.lanes,
            .rows = tile.tile_rows,
            .groups = tile.groups,
            .block = tile.block,
            .a_block = tile.a_block,
            .zero = tile.zero};
}

template <class Unit, ContractBlockTilesTile Tile, class P, int Fold, class S, bool HasOffset>
void check(const FoldedCase& c) {
    SCOPED_TRACE("M " + std::to_string(c.m) + " N " + std::to_string(c.n) + " K " + std::to_string(c.k));
    const FoldedOperands<without_tiles(Tile), P, Fold, S> operands(c);
    Guarded<float> found(Random(1).numbers(c.m * c.n));
    const Guarded<float> before = found;
    const auto contract_with = [&](auto offset) {
        contract_block_tiles<Tile, Unit>(c.m, c.n, c.k, operands.a(), operands.a_scale(), operands.b(),
                                         operands.coefficient(), offset,
                                         result(found.data(), c.n, Int<Tile.lanes>{}));
    };
    if constexpr (HasOffset) {
        contract_with(operands.offset());
    } else {
        contract_with(no_offset);
    }
    ASSERT_TRUE(found.guards_are_intact());
    for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < c.n; ++n) {
            const float start = Tile.accumulate ? before[m * c.n + n] : 0.0f;
            const float expected = operands.expected(m, n, start, HasOffset, true);
            ASSERT_TRUE(same(found[m * c.n + n], expected))
                << "m " << m << " n " << n << ": " << found[m * c.n + n] << ", expected " << expected;
        }
    }
}

template <class Unit, ContractBlockTilesTile Tile, class P, int Fold, class S, bool HasOffset>
void check_sizes() {
    constexpr int64_t L = Tile.lanes;
    for (const int64_t m : {1, Tile.tile_rows, 2 * Tile.tile_rows + 3}) {
        for (const int64_t n : {int64_t{1}, L * Tile.groups, L * (2 * Tile.groups - 1) + L / 2 + 1}) {
            for (const int64_t turns : {0, 1, 3})
                check<Unit, Tile, P, Fold, S, HasOffset>({m, n, turns * Tile.a_block});
        }
    }
}

template <class Unit>
class ContractBlockTiles : public ::testing::Test {};

using Units = std::conditional_t<std::same_as<TileUnit, EmulatedTiles>, ::testing::Types<EmulatedTiles>,
                                 ::testing::Types<EmulatedTiles, TileUnit>>;
TYPED_TEST_SUITE(ContractBlockTiles, Units);

// Q4_K and Q5_K.
TYPED_TEST(ContractBlockTiles, IntegersAndOffsets) {
    check_sizes<TypeParam,
                ContractBlockTilesTile{
                    .tile_rows = 16, .lanes = 16, .depth = 64, .groups = 2, .block = 32, .a_block = 256},
                Bits<4>, 256, uint8_t, true>();
    check_sizes<TypeParam,
                ContractBlockTilesTile{.tile_rows = 5,
                                       .lanes = 8,
                                       .depth = 16,
                                       .groups = 3,
                                       .block = 32,
                                       .a_block = 128,
                                       .accumulate = true},
                Bits<5>, 64, uint8_t, true>();
}

// Q6_K.
TYPED_TEST(ContractBlockTiles, SignedIntegersAndZero) {
    check_sizes<
        TypeParam,
        ContractBlockTilesTile{
            .tile_rows = 16, .lanes = 16, .depth = 64, .groups = 2, .block = 16, .a_block = 256, .zero = -32},
        Bits<6>, 64, int8_t, false>();
}

// Q8_0, Q4_0 and Q4_1: bytes as they are, and a scale of A for several blocks.
TYPED_TEST(ContractBlockTiles, NoIntegers) {
    check_sizes<TypeParam,
                ContractBlockTilesTile{
                    .tile_rows = 16, .lanes = 16, .depth = 32, .groups = 4, .block = 32, .a_block = 256},
                const int8_t*, 32, int8_t, false>();
    check_sizes<TypeParam,
                ContractBlockTilesTile{.tile_rows = 8,
                                       .lanes = 4,
                                       .depth = 32,
                                       .groups = 3,
                                       .block = 32,
                                       .a_block = 64,
                                       .zero = -8,
                                       .accumulate = true},
                Bits<4>, 32, int8_t, true>();
    // Numbers that need two bytes for themselves.
    check_sizes<TypeParam,
                ContractBlockTilesTile{
                    .tile_rows = 16, .lanes = 16, .depth = 32, .groups = 1, .block = 32, .a_block = 32},
                const uint8_t*, 32, int8_t, false>();
}

// More rows than there is room for.
TYPED_TEST(ContractBlockTiles, RowsInParts) {
    static constexpr ContractBlockTilesTile kTile{
        .tile_rows = 16, .lanes = 4, .depth = 64, .groups = 1, .block = 32, .a_block = 256, .zero = -8};
    check<TypeParam, kTile, Bits<4>, 256, uint8_t, true>({37, 3, kContractBlockTilesK});
}

}  // namespace
}  // namespace tessera::ntt
