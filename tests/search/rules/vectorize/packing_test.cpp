#include "search/rules/vectorize/packing.h"

#include <gtest/gtest.h>

namespace tessera::rules {
namespace {

Definition heads() {
    return parse_definition(R"(op split_heads(t: 8, h: 4, e: 64)
in  X f32[t, h * 64 + e] of [8, 256]
out Y f32[t, h, e] = X
)",
                            "heads");
}

Definition quantised() {
    return parse_definition(R"(op quantised(t: 4, n: 32, k*: 64)
in  X f32[t, k]
in  W i8[n, k]
in  S f32[n, k div 32]
out Y f32[t, n] = sum(X * W * S)
)",
                            "quantised");
}

TEST(Packing, AnIteratorRunsAlongTheAxisThatItIndexes) {
    EXPECT_EQ(packed_axis(heads(), 0, 0, 8), 0);
    EXPECT_EQ(packed_axis(heads(), 0, 2, 16), 1);
    EXPECT_EQ(packed_axis(heads(), 0, 2, 48), std::nullopt) << "a group would begin within another's";
    EXPECT_EQ(packed_axis(heads(), 0, 1, 4), std::nullopt) << "heads are 64 apart";
}

TEST(Packing, ABlockOfSeveralGroupsIsOneElement) {
    EXPECT_EQ(layout_of(quantised(), 1, {{1, 16}, {2, 4}}, {32, 64}).lanes,
              (std::vector<Lane>{{0, 16}, {1, 4}}));
    EXPECT_EQ(layout_of(quantised(), 2, {{1, 16}, {2, 4}}, {32, 2}).lanes, (std::vector<Lane>{{0, 16}}));
}

TEST(Packing, LanesThatARowHasAnywayAreNone) {
    EXPECT_TRUE(layout_of(quantised(), 3, {{1, 16}}, {4, 32}).is_row_major());
    EXPECT_FALSE(layout_of(quantised(), 3, {{0, 2}}, {4, 32}).is_row_major());
}

TEST(Packing, IsReadBackFromALayout) {
    const Packing packing = {{1, 16}, {2, 4}};
    const Layout layout = layout_of(quantised(), 1, packing, {32, 64});
    EXPECT_EQ(packing_of(quantised(), 1, layout), packing);
    EXPECT_EQ(packing_of(heads(), 0, {{}, {{1, 48}}}), std::nullopt);
}

TEST(Packing, AVectorUnitPacksEveryIteratorAndNeighboursWhereTypesAgree) {
    const machine::ComputeUnit plain{
        .name = "plain",
        .kind = machine::UnitKind::kVector,
        .operands = {{"A", "f32", {{'i', 16}}}, {"B", "f32", {{'i', 16}}}, {"C", "f32", {{'i', 16}}}}};
    const machine::ComputeUnit bytes{.name = "bytes",
                                     .kind = machine::UnitKind::kVector,
                                     .operands = {{"A", "u8", {{'i', 16}, {'k', 4}}},
                                                  {"B", "i8", {{'i', 16}, {'k', 4}}},
                                                  {"C", "i32", {{'i', 16}}}}};
    EXPECT_EQ(packings_for(quantised(), {plain}).size(), 3u);
    const auto found = packings_for(quantised(), {bytes});
    ASSERT_EQ(found.size(), 1u) << "only n and k both run through a tensor of bytes";
    EXPECT_EQ(found[0].tensors[1], (Packing{{1, 16}, {2, 4}}));
    EXPECT_EQ(found[0].tensors[3], (Packing{{1, 16}}));
}

}  // namespace
}  // namespace tessera::rules
