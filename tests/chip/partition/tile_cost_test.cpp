#include "chip/partition/tile_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/small_chips.h"

namespace tessera::partition {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

facts::BoundDefinition bound_by(const std::string& text) {
    return facts::bind_unfilled(parse_definition(text, "test.op"), {}, "test.op");
}

constexpr const char* kBatched =
    "op scores(b: 2, r: 3, s: 10, e*: 5)\nin G f16[b, r, e]\nin K f16[b, s, e]\n"
    "out S f32[b, r, s] = sum(f32(G) * f32(K)) * 0.5\n";

TEST(MatrixRoles, AreThoseOfProductsOfTwoOperands) {
    const auto roles = matrix_roles(parse_definition(kBatched, "test.op"));
    ASSERT_TRUE(roles);
    EXPECT_THAT(roles->rows, ElementsAre(1));
    EXPECT_THAT(roles->columns, ElementsAre(2));
    EXPECT_THAT(roles->summed, ElementsAre(3));
    EXPECT_THAT(roles->batch, ElementsAre(0));
    EXPECT_FALSE(matrix_roles(
        parse_definition("op squares(t: 4, d*: 8)\nin X f32[t, d]\nout Y f32[t] = sum(X * X)\n", "test.op")));
    EXPECT_FALSE(matrix_roles(
        parse_definition("op largest(t: 4, d*: 8)\nin X f32[t, d]\nout Y f32[t] = max(X)\n", "test.op")));
    const auto attend =
        matrix_roles(parse_definition("op attend(r: 3, d: 6, s*: 4)\nin P f32[r, s]\nin V f32[s, d]\n"
                                      "out M f32[r], L f32[r], A f32[r, d] = softmax_sum(P, V)\n",
                                      "test.op"));
    ASSERT_TRUE(attend);
    EXPECT_THAT(attend->rows, ElementsAre(0));
    EXPECT_THAT(attend->columns, ElementsAre(1));
    EXPECT_THAT(attend->summed, ElementsAre(2));
    EXPECT_THAT(attend->batch, IsEmpty());
}

TEST(TileCost, TakesWholeBlocks) {
    const facts::BoundDefinition bound = bound_by(kBatched);
    const Footprints footprints(bound);
    const chip::ChipDescription chip = small_chip();
    const TileCost cost(bound, footprints, chip);
    EXPECT_TRUE(cost.uses_matrix_unit());
    // 3 x 10 x 5 in blocks of 2 x 4 x 2 is 4 x 12 x 6, or, turned around, 10 x 4 x 6; twice for b.
    EXPECT_EQ(cost.matrix_flops({2, 3, 10, 5}), 2.0 * 40 * 6 * 2);
    EXPECT_EQ(cost.vector_flops({2, 3, 10, 5}), 60);  // the scale of each result
    EXPECT_EQ(cost.sram_bytes({2, 3, 10, 5}), 60 + 200 + 240);
    EXPECT_EQ(cost.cycles({2, 3, 10, 5}), 960 / 16.0 + 60 / 2.0 + 3);
}

TEST(TileCost, TakesFittedCostsOfItsKind) {
    const facts::BoundDefinition bound = bound_by(kBatched);
    const Footprints footprints(bound);
    chip::ChipDescription chip = small_chip();
    const double own = TileCost(bound, footprints, chip).cycles({2, 3, 10, 5});
    const auto leaf = [](double constant, std::vector<double> slopes) {
        return machine::CostNode{.input = std::nullopt, .constant = constant, .slopes = std::move(slopes)};
    };
    chip.tile_costs = {{machine::TileKind::kElementwise, {leaf(1, {1, 1, 1})}}};
    EXPECT_EQ(TileCost(bound, footprints, chip).cycles({2, 3, 10, 5}), own);
    chip.tile_costs.push_back({machine::TileKind::kProduct, {leaf(7, {1, 100, 1000, 10'000, 0.5})}});
    const TileCost fitted(bound, footprints, chip);
    EXPECT_THAT(fitted.inputs({2, 3, 10, 5}), ElementsAre(3, 10, 5, 2, 300));
    EXPECT_EQ(fitted.cycles({2, 3, 10, 5}), 7 + 3 + 1000 + 5000 + 20'000 + 150);
    // The inputs of other kinds.
    const facts::BoundDefinition moved =
        bound_by("op scaled(t: 4, d: 8)\nin X f32[t, d]\nout Y f32[t, d] = exp(X) * 2\n");
    const Footprints of_moved(moved);
    const TileCost elementwise(moved, of_moved, chip);
    EXPECT_EQ(elementwise.kind(), machine::TileKind::kElementwise);
    EXPECT_THAT(elementwise.inputs({2, 8}), ElementsAre(16, 16, 16));
    const facts::BoundDefinition summed =
        bound_by("op squares(t: 4, d*: 8)\nin X f32[t, d]\nout Y f32[t] = sum(X * X)\n");
    const Footprints of_summed(summed);
    const TileCost reduction(summed, of_summed, chip);
    EXPECT_EQ(reduction.kind(), machine::TileKind::kReduction);
    EXPECT_THAT(reduction.inputs({2, 8}), ElementsAre(2, 16, 16, 0));
}

TEST(TileCost, WithoutAMatrixUnitTheVectorUnitSums) {
    const facts::BoundDefinition bound = bound_by(kBatched);
    const Footprints footprints(bound);
    const chip::ChipDescription chip = small_chip({.has_matrix = false});
    const TileCost cost(bound, footprints, chip);
    EXPECT_EQ(cost.matrix_flops({1, 1, 10, 5}), 0);
    EXPECT_EQ(cost.vector_flops({1, 1, 10, 5}), 50 * 2 + 10);
}

TEST(TileCost, CountsSpecialFunctionsAndMoves) {
    const chip::ChipDescription chip = small_chip();
    const facts::BoundDefinition gate = bound_by(
        "op gate(t: 4, f: 8)\nin X f32[t, f]\nin Y f32[t, f]\nout Z f32[t, f] = X * sigmoid(X) * Y\n");
    EXPECT_EQ(TileCost(gate, Footprints(gate), chip).vector_flops({1, 8}), 8 * (2 + 4));
    const facts::BoundDefinition move =
        bound_by("op move(t: 4, f: 8)\nin X f32[t, f]\nout Z f32[f, t] = X\n");
    EXPECT_EQ(TileCost(move, Footprints(move), chip).vector_flops({4, 8}), 32);
    const facts::BoundDefinition attend = bound_by(
        "op attend(r: 3, d: 6, s*: 4)\nin P f32[r, s]\nin V f32[s, d]\n"
        "out M f32[r], L f32[r], A f32[r, d] = softmax_sum(P, V)\n");
    // Weights once for all of d: three operations and an exponential.
    EXPECT_EQ(TileCost(attend, Footprints(attend), chip).vector_flops({3, 6, 4}), 12 * (3 + 4));
}

TEST(TileCost, ThePortIsTheLimitOfWhatIsMovedAndNotComputed) {
    const facts::BoundDefinition move = bound_by("op move(t: 100)\nin X f32[t]\nout Z f32[t] = X\n");
    const Footprints footprints(move);
    chip::ChipDescription chip = small_chip();
    chip.vector.flops_per_cycle = 1000;
    EXPECT_EQ(TileCost(move, footprints, chip).cycles({100}), 800 / 16.0 + 3);
}

}  // namespace
}  // namespace tessera::partition
