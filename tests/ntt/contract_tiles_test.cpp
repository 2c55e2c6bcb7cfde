// Contractions on a matrix unit: its tiles in plain loops everywhere, and where there is one the unit itself.
// Both have the bits of the loops below, which are written after Intel's pseudo-code of TDPBF16PS.

#include "tessera/ntt/contract_tiles.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/pair_cases.h"
#include "tessera/ntt/contract.h"

namespace tessera::ntt {
namespace {

float flushed(float x) {
    return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

/// The value of an element of C after one product of tiles after the other.
float sum_of_tiles(const bf16* a, const bf16* b, int64_t depth_of_tile, int64_t k_extent, float c) {
    for (int64_t begin = 0; begin < k_extent; begin += depth_of_tile) {
        float sum[2] = {0.0f, 0.0f};
        for (int64_t k = begin; k < std::min(begin + depth_of_tile, k_extent); ++k) {
            float& of_parity = sum[(k - begin) % 2];
            of_parity = flushed(fma(flushed(element(a, k)), flushed(element(b, k)), of_parity));
        }
        c = flushed(flushed(c) + flushed(sum[0] + sum[1]));
    }
    return c;
}

template <ContractTilesTile Tile, class Unit>
void check(const Case& c) {
    SCOPED_TRACE(c.text());
    constexpr int64_t L = Tile.lanes;
    Random random(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k));
    const int64_t stride_m = c.k + 3;  // an odd number of elements in half of the cases
    const auto a = numbers<bf16>(random, (c.m - 1) * stride_m + c.k), b = numbers<bf16>(random, c.n * c.k);
    const AtPageEnd<bf16> a_data(a), b_data(pairs_of(b, c, L));
    Guarded<float> found(random.numbers(c.m * c.n));
    const Guarded<float> before = found;

    contract_tiles<Tile, Unit>(c.m, c.n, c.k, rows(a_data.data(), stride_m, Int<1>{}),
                               lane_pairs(b_data.data(), ceil_div(c.k, 2) * 2 * L, Int<2 * L>{}),
                               result(found.data(), c.n, Int<L>{}));

    ASSERT_TRUE(found.guards_are_intact());
    for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < c.n; ++n) {
            const bf16 *a_row = a.data() + m * stride_m, *b_row = b.data() + n * c.k;
            const float start = Tile.accumulate ? before[m * c.n + n] : 0.0f, sum = found[m * c.n + n];
            ASSERT_TRUE(same(sum, sum_of_tiles(a_row, b_row, Tile.depth, c.k, start)))
                << "m " << m << " n " << n << ": " << sum;
            double exact = start, size = std::fabs(start);
            for (int64_t k = 0; k < c.k; ++k) {
                const double product = static_cast<double>(element(a_row, k)) * element(b_row, k);
                exact += product;
                size += std::fabs(product);
            }
            const int64_t roundings = Tile.depth / 2 + ceil_div(c.k, int64_t{Tile.depth});
            ASSERT_LE(std::fabs(sum - exact), static_cast<double>(roundings) * 0x1.001p-24 * size);
        }
    }
}

/// B in rows of k, and in pages of eight of them that lie in the opposite order, gives the bits of B in
/// pairs.
template <ContractTilesTile Tile, class Unit>
void check_rows_of_k(const Case& c) {
    SCOPED_TRACE(c.text());
    constexpr int64_t L = Tile.lanes, kPage = 8;
    Random random(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k));
    const auto a_numbers = numbers<bf16>(random, c.m * c.k), b = numbers<bf16>(random, c.n * c.k);
    const std::vector<float> before = random.numbers(c.m * c.n);
    const auto by_row = rows_of_k(b, c);
    std::vector<bf16> by_page;
    for (int64_t end = c.k; end > 0; end = (end - 1) / kPage * kPage) {
        const int64_t begin = (end - 1) / kPage * kPage;
        by_page.insert(by_page.end(), by_row.begin() + begin * c.n, by_row.begin() + end * c.n);
    }
    const AtPageEnd<bf16> a_data(a_numbers), rows_data(by_row), pages_data(by_page), pairs(pairs_of(b, c, L));
    const auto in_page = [&](int64_t group, int64_t k) {
        const int64_t first = k / kPage * kPage, behind = c.k - first - kPage;
        return pages_data.data() + ((behind > 0 ? behind : 0) + k % kPage) * c.n + group * L;
    };
    const auto product = [&](const auto& operand) {
        Guarded<float> sums(before);
        contract_tiles<Tile, Unit>(c.m, c.n, c.k, rows(a_data.data(), c.k, Int<1>{}), operand,
                                   result(sums.data(), c.n, Int<L>{}));
        EXPECT_TRUE(sums.guards_are_intact());
        return sums;
    };
    const auto expected = product(lane_pairs(pairs.data(), ceil_div(c.k, 2) * 2 * L, Int<2 * L>{}));
    const auto of_rows = product(lanes(rows_data.data(), Int<L>{}, c.n));
    const auto of_pages = product(lanes_at(in_page));
    for (int64_t i = 0; i < c.m * c.n; ++i) {
        ASSERT_TRUE(same(of_rows[i], expected[i])) << i;
        ASSERT_TRUE(same(of_pages[i], expected[i])) << i;
    }
}

template <class Unit>
class ContractTiles : public ::testing::Test {};

using Units = std::conditional_t<std::same_as<TileUnit, EmulatedTiles>, ::testing::Types<EmulatedTiles>,
                                 ::testing::Types<EmulatedTiles, TileUnit>>;
TYPED_TEST_SUITE(ContractTiles, Units);

constexpr ContractTilesTile kWhole{.tile_rows = 16, .lanes = 16, .depth = 32, .rows = 2, .groups = 2};
constexpr ContractTilesTile kSmall{
    .tile_rows = 4, .lanes = 8, .depth = 12, .rows = 1, .groups = 3, .accumulate = true};

TYPED_TEST(ContractTiles, ARaggedEndOfEveryExtent) {
    for (const int64_t m : {1, 3, 16, 17, 31, 32, 37, 64, 75})
        for (const int64_t n : {1, 16, 19, 32, 48, 53}) check<kWhole, TypeParam>({m, n, 40});
    for (const int64_t k : {1, 2, 3, 31, 32, 33, 64, 71, 96}) check<kWhole, TypeParam>({35, 41, k});
}
TYPED_TEST(ContractTiles, OtherTilesAndAccumulation) {
    for (const int64_t m : {1, 4, 5, 11})
        for (const int64_t n : {1, 8, 24, 35})
            for (const int64_t k : {1, 12, 13, 29}) check<kSmall, TypeParam>({m, n, k});
    static constexpr ContractTilesTile kRow{
        .tile_rows = 16, .lanes = 4, .depth = 32, .rows = 3, .groups = 1, .accumulate = true};
    for (const int64_t m : {7, 16, 17, 33, 48, 61}) check<kRow, TypeParam>({m, 7, 45});
}

TYPED_TEST(ContractTiles, BitsDoNotChangeWithTheBlockOrWithACutAtWholeTiles) {
    const Case c{21, 40, 96};
    Random random(5);
    const auto a = numbers<bf16>(random, c.m * c.k), b = pairs_of(numbers<bf16>(random, c.n * c.k), c, 16);
    Guarded<float> whole(c.m * c.n), other(c.m * c.n), cut(c.m * c.n);
    const auto call = [&]<ContractTilesTile Tile>(Guarded<float>& to, int64_t begin, int64_t count) {
        contract_tiles<Tile, TypeParam>(Int<21>{}, Int<40>{}, count,
                                        rows(a.data() + begin, Int<96>{}, Int<1>{}),
                                        lane_pairs(b.data() + begin * 16, Int<96 * 16>{}, Int<32>{}),
                                        result(to.data(), Int<40>{}, Int<16>{}));
    };
    static constexpr ContractTilesTile kRow{
        .tile_rows = 16, .lanes = 16, .depth = 32, .rows = 1, .groups = 1};
    static constexpr ContractTilesTile kMore{
        .tile_rows = 16, .lanes = 16, .depth = 32, .rows = 2, .groups = 2, .accumulate = true};
    call.template operator()<kWhole>(whole, 0, c.k);
    call.template operator()<kRow>(other, 0, c.k);
    call.template operator()<kWhole>(cut, 0, 32);
    call.template operator()<kMore>(cut, 32, c.k - 32);
    for (int64_t i = 0; i < c.m * c.n; ++i) {
        ASSERT_TRUE(same(other[i], whole[i])) << i;
        ASSERT_TRUE(same(cut[i], whole[i])) << i;
    }
}

TYPED_TEST(ContractTiles, PairsThatAreMade) {
    for (const int64_t m : {1, 16, 37})
        for (const int64_t n : {1, 16, 19, 53})
            for (const int64_t k : {1, 2, 31, 32, 71}) check_rows_of_k<kWhole, TypeParam>({m, n, k});
    for (const int64_t m : {1, 11})
        for (const int64_t n : {1, 8, 35})
            for (const int64_t k : {1, 12, 13, 29}) check_rows_of_k<kSmall, TypeParam>({m, n, k});
}
TYPED_TEST(ContractTiles, PairsThatAreMadeInSeveralPanels) {
    const int64_t deepest = kContractTilesPanel / (kWhole.groups * kWhole.lanes);
    for (const int64_t m : {1, 19}) {
        check_rows_of_k<kWhole, TypeParam>({m, 16 * 20 + 3, 999});  // eight groups at a time
        for (const int64_t k : {deepest, deepest + 1, 2 * deepest + 45})
            check_rows_of_k<kWhole, TypeParam>({m, 35, k});
    }
    check_rows_of_k<kSmall, TypeParam>({5, 29, kContractTilesPanel / (3 * 8) + 7});
}
// A product with remains of an earlier panel would be NaN only sometimes.
TEST(ContractTilesPanel, EndsWithZeros) {
    using V = Vector<float, 4>;
    const Case c{1, 11, 5};
    Random random(4);
    const auto b = numbers<bf16>(random, c.n * c.k);
    const AtPageEnd<bf16> by_row(rows_of_k(b, c));
    std::vector<bf16> expected = pairs_of(b, c, 4, 0.0f), found(3 * 6 * 8, narrow<bf16>(std::nanf("")));
    const PairedLanes<Lanes<const bf16*, Int<4>, int64_t>> pairs{lanes(by_row.data(), Int<4>{}, c.n)};
    detail::lay_pairs<2, V>(pairs, 0, Int<4>{}, 0, c.k, 6, found.data());
    detail::lay_pairs<1, V>(pairs, 2, int64_t{3}, 0, c.k, 6, found.data() + 2 * 6 * 8);
    for (size_t group = 0; group < 3; ++group)
        for (size_t i = 0; i < 6 * 8; ++i)
            EXPECT_EQ(found[group * 6 * 8 + i].bits, i < 3 * 8 ? expected[group * 3 * 8 + i].bits : 0) << i;
}
TYPED_TEST(ContractTiles, PairsThatAreMadeOfNothing) {
    std::vector<float> c(6, 7.0f);
    const bf16* nothing = nullptr;
    contract_tiles<kWhole, TypeParam>(2, 3, 0, rows(nothing, 0, Int<1>{}), lanes(nothing, Int<16>{}, 3),
                                      result(c.data(), 3, Int<16>{}));
    EXPECT_EQ(c, std::vector<float>(6, 0.0f));
}

/// One product of a pair with a pair, added to c.
template <class Unit>
float one_product(uint16_t a_even, uint16_t a_odd, uint16_t b_even, uint16_t b_odd, float c = 0.0f) {
    constexpr ContractTilesTile kOne{
        .tile_rows = 1, .lanes = 1, .depth = 2, .rows = 1, .groups = 1, .accumulate = true};
    const bf16 a[] = {{a_even}, {a_odd}}, b[] = {{b_even}, {b_odd}};
    contract_tiles<kOne, Unit>(Int<1>{}, Int<1>{}, Int<2>{}, rows(&a[0], Int<2>{}, Int<1>{}),
                               lane_pairs(b, Int<2>{}, Int<2>{}), result(&c, Int<1>{}, Int<1>{}));
    return c;
}

TYPED_TEST(ContractTiles, DenormalsAreZeros) {
    const uint16_t one = 0x3f80, minus = 0xbf80, denormal = 0x0040, least = 0x0080,
                   tiny = 0x1f80;  // 2^-127, -126, -64
    const auto product = one_product<TypeParam>;
    EXPECT_EQ(product(denormal, 0, one, 0, 0.0f), 0.0f) << "a factor";
    EXPECT_EQ(product(one, 0, denormal, 0, 0.0f), 0.0f);
    EXPECT_EQ(product(least, 0, one, 0, 0.0f), 0x1p-126f);
    EXPECT_EQ(product(tiny, 0, tiny, 0, 0.0f), 0.0f) << "a product";
    EXPECT_EQ(product(least, least, one, minus, 0x1p-126f), 0x1p-126f);
    EXPECT_EQ(product(0, 0, 0, 0, 0x1p-127f), 0.0f) << "the sum before";
    EXPECT_EQ(product(least, 0, one, 0, -0x1.8p-126f), 0.0f) << "the sum behind";
}

TYPED_TEST(ContractTiles, InfinitiesAndNan) {
    const uint16_t one = 0x3f80, infinity = 0x7f80, minus = 0xff80, nan = 0x7fc0;
    const auto product = one_product<TypeParam>;
    EXPECT_EQ(product(infinity, one, one, one, 0.0f), HUGE_VALF);
    EXPECT_TRUE(std::isnan(product(infinity, minus, one, one, 0.0f)));
    EXPECT_TRUE(std::isnan(product(infinity, one, 0, one, 0.0f)));
    EXPECT_TRUE(std::isnan(product(one, nan, one, one, 0.0f)));
}

}  // namespace
}  // namespace tessera::ntt
