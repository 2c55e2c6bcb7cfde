#include "tessera/ntt/softmax_tiles.h"

#include <gtest/gtest.h>

#include "ntt/softmax_cases.h"

namespace tessera::ntt {
namespace {

template <ContractTilesTile Tile, class Unit>
void check(const std::array<int64_t, 3>& extents, int64_t cut) {
    SCOPED_TRACE("rows " + std::to_string(extents[0]) + " cut " + std::to_string(cut));
    check_rounded_weights<Tile.lanes>(
        extents, cut, [](auto... arguments) { softmax_step_tiles<Tile, Unit>(arguments...); });
}

template <class Unit>
class SoftmaxTiles : public ::testing::Test {};

using Units = std::conditional_t<std::same_as<TileUnit, EmulatedTiles>, ::testing::Types<EmulatedTiles>,
                                 ::testing::Types<EmulatedTiles, TileUnit>>;
TYPED_TEST_SUITE(SoftmaxTiles, Units);

constexpr ContractTilesTile kTile{.tile_rows = 16, .lanes = 16, .depth = 32, .rows = 2, .groups = 2};

TYPED_TEST(SoftmaxTiles, WeightsThatAreRounded) {
    static constexpr ContractTilesTile kSmall{
        .tile_rows = 4, .lanes = 8, .depth = 12, .rows = 1, .groups = 3};
    for (const int64_t cut : {8, 37}) {
        check<kTile, TypeParam>({5, 37, 19}, cut);
        check<kSmall, TypeParam>({5, 37, 19}, cut);
    }
}

// More rows than have their scales on the stack.
TYPED_TEST(SoftmaxTiles, ManyRows) {
    const int64_t rows = kSoftmaxTilesRows + 37;
    for (const int64_t cut : {int64_t{110}, rows + 20}) check<kTile, TypeParam>({rows, rows + 20, 40}, cut);
}

TYPED_TEST(SoftmaxTiles, MaskedValuesNeedNotBeFinite) {
    for (const int64_t cut : {1, 8, 37}) {
        check_masked_values<kTile.lanes>({5, 90, 19}, cut, 0x1p-8, [](auto... arguments) {
            softmax_step_tiles<kTile, TypeParam>(arguments...);
        });
    }
}

TYPED_TEST(SoftmaxTiles, NothingSeenIsTheIdentity) {
    Buffers<16, int64_t> b(2, 9, 9);
    softmax_init<16>(2, 9, b.state);
    std::vector<float> scores(6, -kInf);
    const std::vector<bf16> values(27, narrow<bf16>(1.0f));
    softmax_step_tiles<kTile, TypeParam>(Int<2>{}, 3, Int<9>{}, scores.data(), 3,
                                         lanes_at([&](int64_t, int64_t s) { return &values[9 * s]; }),
                                         b.state);
    for (int64_t i = 0; i < 2; ++i) {
        EXPECT_EQ(b.maximum[i], -kInf);
        EXPECT_EQ(b.sum[i], 0.0f);
        for (int64_t d = 0; d < 9; ++d) EXPECT_EQ(b.value[i * 9 + d], 0.0f);
    }
}

}  // namespace
}  // namespace tessera::ntt
