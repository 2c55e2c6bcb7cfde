// Costs by hand on a machine of round numbers.

#include "cost/cost_model.h"

#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "cost/vector_work.h"
#include "ir/ops/matmul.h"
#include "lowering/kernels/leaf_of.h"

namespace tessera::cost {
namespace {

const CostModel kModel(testing::measured_machine());

/// A product with these parameters besides its iterators and lanes.
plan::Leaf product_by(const std::string& micro_kernel, const std::string& parameters) {
    return testing::leaf_of("y[" + micro_kernel + " k=k lanes=16 m=t n=n " + parameters + "]");
}

plan::Leaf contract() {
    return product_by("contract", "rows=1 groups=1");
}

TEST(CostModel, AProductCostsWhatTheTableSays) {
    const auto product = ops::matmul({}, {Dim(1), 32, 1000}, ops::WeightFormat::kF32);
    const LeafCost cost = kModel.leaf(*product, contract(), {1, 32, 1000});
    EXPECT_EQ(cost.why_infinite, "");
    EXPECT_NEAR(cost.near_seconds, 2e-6, 1e-12);
    EXPECT_EQ(cost.streamed_bytes, 32 * 1000 * 4);
}

TEST(CostModel, WithoutATimeThePeakOfTheUnitCounts) {
    const auto product = ops::matmul({}, {Dim(1), 32, 1000}, ops::WeightFormat::kF32);
    const plan::Leaf dot = product_by("dot", "rows=1");
    const std::optional<UnitRate> unit = unit_of(kModel.machine(), dot, {{"A", "f32"}, {"B", "f32"}});
    ASSERT_TRUE(unit);
    EXPECT_EQ(kModel.leaf(*product, dot, {1, 32, 1000}).near_seconds,
              typical_product(*unit, dot, 1, 32, 1000).all);
    machine::Machine machine = testing::measured_machine();
    machine.units[0].peaks.clear();
    EXPECT_NE(CostModel(machine).leaf(*product, dot, {1, 32, 1000}).why_infinite, "");
}

// The windows of convolutions: a table lists sums of hundreds of terms.
TEST(CostModel, SumsThatAreShorterThanAllListedTakeTheEndsOfTheirBlocks) {
    machine::Machine machine = testing::measured_machine();
    machine.micro_kernels.push_back(testing::kernel_time("dot", "f32", "f32",
                                                         {{"rows", 1}, {"columns", 1}, {"lanes", 16}},
                                                         {{"m", 1}, {"n", 16}, {"k", 1000}}, "L2", 1e-6));
    const CostModel model(machine);
    const auto seconds = [&](const plan::Leaf& leaf, int64_t k) {
        const auto product = ops::matmul({}, {Dim(1), 16, k}, ops::WeightFormat::kF32);
        const LeafCost cost = model.leaf(*product, leaf, {1, 16, k});
        EXPECT_EQ(cost.why_infinite, "");
        EXPECT_LE(cost.least_seconds, cost.near_seconds);
        return cost.near_seconds;
    };
    EXPECT_NEAR(seconds(contract(), 2000), 2e-6, 1e-12);
    EXPECT_NEAR(seconds(contract(), 500), 0.5e-6, 0.025e-6);
    EXPECT_GT(seconds(contract(), 9), 1.5 * 9e-9) << "nine terms";
    const plan::Leaf dot = product_by("dot", "rows=1 columns=1");
    EXPECT_NEAR(seconds(dot, 1000), 1e-6, 1e-12);
    EXPECT_GT(seconds(dot, 3), 5 * 3e-9) << "lanes for sixteen terms";
    EXPECT_NEAR(seconds(dot, 3), seconds(dot, 16), 1e-15);
}

TEST(CostModel, DecodingCostsProductsOfFewRows) {
    machine::Machine machine = testing::measured_machine();
    std::erase_if(machine.micro_kernels, [](const auto& time) { return time.name != "loops"; });
    const CostModel model(machine);
    const auto seconds = [&](ops::WeightFormat format, const std::string& block) {
        const auto product = ops::matmul({}, {Dim(1), 64, 4096}, format);
        const LeafCost cost = model.leaf(*product, product_by("contract", block), {12, 64, 4096});
        EXPECT_EQ(cost.why_infinite, "");
        return cost.near_seconds;
    };
    const std::string one = "rows=1 groups=4", many = "rows=12 groups=2";
    const double plain = seconds(ops::WeightFormat::kF32, many);
    EXPECT_GT(seconds(ops::WeightFormat::kQ8_0, one), 2.5 * plain);
    EXPECT_LT(seconds(ops::WeightFormat::kQ8_0, many), 1.3 * plain) << "beside many multiply-adds";
    EXPECT_LT(seconds(ops::WeightFormat::kQ8_0, one + " panel_blocks=4"),
              0.7 * seconds(ops::WeightFormat::kQ8_0, one))
        << "once for all rows";
}

// A product that is not listed: the unit that the micro-kernel is for counts, not the first with such types.
TEST(CostModel, ThePeakIsThatOfTheMicroKernelsOwnUnit) {
    machine::Machine machine = testing::machine_with_tiles();
    std::erase_if(machine.micro_kernels, [](const auto& time) { return time.name != "loops"; });
    const CostModel model(machine);
    const auto seconds = [&](const char* micro_kernel, const std::string& more, int64_t m) {
        const auto product = ops::matmul({}, {Dim(m), 32, 1024}, ops::WeightFormat::kBF16, std::nullopt,
                                         ops::Activation{ElementType::kBF16});
        const LeafCost cost = model.leaf(*product, product_by(micro_kernel, more), {m, 32, 1024});
        EXPECT_EQ(cost.why_infinite, "");
        return cost.near_seconds;
    };
    const double operations = 2.0 * 16 * 32 * 1024;
    const double widened = operations / 100e9, in_pairs = operations / 200e9;  // and the ends of blocks
    EXPECT_NEAR(seconds("contract", "rows=8 groups=2 k_lanes=2", 16), widened, 0.03 * widened);
    EXPECT_NEAR(seconds("contract", "rows=8 groups=2 k_lanes=2 dot=2", 16), in_pairs, 0.01 * in_pairs);
    const char* const tiles = "tile_rows=16 depth=32";
    EXPECT_NEAR(seconds("contract_tiles", tiles, 16), operations / 1e12, 1e-15);
    EXPECT_NEAR(seconds("contract_tiles", tiles, 5), operations / 1e12, 1e-15)
        << "a tile, whatever is filled";
    EXPECT_NEAR(seconds("contract_tiles", tiles, 17), 2 * operations / 1e12, 1e-15);
}

/// Both bytes of an activation, two of a weight or half of a tile's depth: four products of bytes for one.
TEST(CostModel, ThePeakOfBytesCountsProductsOfBytes) {
    machine::Machine machine = testing::machine_with_tiles();
    std::erase_if(machine.micro_kernels, [](const auto& time) { return time.name != "loops"; });
    const auto product =
        ops::matmul({}, {Dim(16), 32, 1024}, ops::WeightFormat::kQ8_0, std::nullopt, ops::kInt15Blocks);
    const plan::Leaf leaf = product_by("contract_block_tiles", "tile_rows=16 depth=32");
    EXPECT_NE(CostModel(machine).leaf(*product, leaf, {16, 32, 1024}).why_infinite, "");
    for (machine::OperandLanes& operand : machine.units.back().operands)
        operand.type = operand.name == "C" ? "i32" : "i8";
    EXPECT_NEAR(CostModel(machine).leaf(*product, leaf, {16, 32, 1024}).near_seconds,
                4 * 2.0 * 16 * 32 * 1024 / 1e12, 1e-15);
}

TEST(CostModel, WhatNoMicroKernelDoesHasNoFiniteCost) {
    const Definition sum =
        parse_definition("op add(i: 16)\nin A f32[i]\nin B f32[i]\nout Y f32[i] = A + B\n", "");
    EXPECT_NE(kModel.leaf(sum, contract(), {16}).why_infinite, "");
}

TEST(CostModel, LoopsCostTheSumOfWhatTheyDo) {
    const Definition sum =
        parse_definition("op add(i: 160)\nin A f32[i]\nin B f32[i]\nout Y f32[i] = A + B\n", "");
    // Ten groups of lanes, each with two loads, a store and an addition.
    const LeafCost cost = kModel.leaf(sum, testing::leaf_of("y[loops lanes=16 x=i]"), {160});
    EXPECT_NEAR(cost.near_seconds, 10 * (3 * 1e-9 + 2e-9), 1e-13);
}

TEST(CostModel, StallsGrowWithTheInverseOfTheRate) {
    EXPECT_EQ(kModel.stall_per_byte(1e-10, 1, 1), 0);
    EXPECT_NEAR(kModel.stall_per_byte(1e-10, 3, 1), 1e-10, 1e-20);
    // 1/20 - 1/50 of 1/10 - 1/50.
    EXPECT_NEAR(kModel.stall_per_byte(1e-10, 2, 1), 0.375e-10, 1e-20);
}

TEST(CostModel, SharedLevelsAreSharedByThoseWhoWork) {
    EXPECT_EQ(kModel.capacity(1, 2), 1 << 20);
    EXPECT_EQ(kModel.capacity(2, 1), 8 << 20);
    EXPECT_EQ(kModel.capacity(2, 2), 4 << 20);
    EXPECT_EQ(kModel.barrier_seconds(1), 0);
    EXPECT_EQ(kModel.barrier_seconds(2), 1e-6);
}

TEST(VectorWork, IsCountedFromTheDefinition) {
    const Definition d = parse_definition(
        "op norm(t: 2, d*: 64)\nin X f16[t, d]\nout R f32[t] = rsqrt(sum(X * X) / 64 + 1e-6)\n", "");
    const VectorWork work = vector_work(d, {2, 64}, 1, 16);
    EXPECT_EQ(work.steps, 8);
    EXPECT_EQ(work.folds, 8);
    EXPECT_EQ(work.ends, 2);
    EXPECT_EQ(work.waits, 1);
    EXPECT_EQ(work.special, 0);  // ends have them
    EXPECT_EQ(work.conversions, 8);
    EXPECT_EQ(vector_work_of(named(work)), work);
}

TEST(VectorWork, LanesOfSeveralRegistersFoldSideBySide) {
    const Definition d = parse_definition(
        "op norm(t: 2, d*: 128)\nin X f16[t, d]\nout R f32[t] = rsqrt(sum(X * X) / 64 + 1e-6)\n", "");
    const plan::Leaf one = testing::leaf_of("r[loops lanes=16 x=d]"),
                     four = testing::leaf_of("r[loops lanes=64 x=d]");
    VectorWork expected = vector_work(d, {2, 128}, one, 16);
    EXPECT_EQ(expected, vector_work(d, {2, 128}, 1, 16));
    EXPECT_EQ(expected.folds, 16);
    expected.folds = 4;
    expected.flops += 2 * 3;  // sums of each result that become one
    EXPECT_EQ(vector_work(d, {2, 128}, four, 16), expected);
}

TEST(VectorWork, LanesThatLieApartAreGathered) {
    const Definition d = parse_definition("op turn(i: 16, j: 16)\nin X f32[j, i]\nout Y f32[i, j] = X\n", "");
    EXPECT_EQ(vector_work(d, {16, 16}, 1, 16).gathers, 16 * 16);
    EXPECT_EQ(vector_work(d, {16, 16}, 1, 16).loads, 16);
    // In tiles of 8 along both axes lanes of j lie side by side in groups of 8 in one of the two.
    const std::vector<Layout> turned = {{.order = {1, 0}, .lanes = {}}, {}};
    EXPECT_EQ(vector_work(d, {16, 16}, 1, 16, turned).gathers, 0);
    const Layout tiles{.order = {}, .lanes = {{1, 8}, {0, 8}}};
    EXPECT_EQ(vector_work(d, {16, 16}, 1, 8, {tiles, {}}).gathers, 0);
    EXPECT_EQ(vector_work(d, {16, 16}, 1, 16, {tiles, {}}).gathers, 16 * 16) << "a group is in two tiles";
}

// The rows of a window of stride 2: two registers and a permutation in place of sixteen numbers.
TEST(VectorWork, EveryOtherElementComesByWholeRegisters) {
    const auto work = [](const char* text) {
        return vector_work(parse_definition(text, ""), {160}, 0, 16, {});
    };
    const VectorWork reads = work("op f(i: 160)\nin A f32[i * 2 + 1] of [320]\nout Y f32[i] = A\n");
    EXPECT_EQ(reads.gathers, 0);
    EXPECT_EQ(reads.loads, 10 * (2 + 1));
    const VectorWork by_three = work("op f(i: 160)\nin A f32[i * 3] of [480]\nout Y f32[i] = A\n");
    EXPECT_EQ(by_three.gathers, 160);
    const VectorWork writes = work("op f(i: 160)\nin A f32[i]\nout Y f32[i * 2] of [320] = A\n");
    EXPECT_EQ(writes.gathers, 160);
}

TEST(CostModel, AReadBeforeAnAxisHasItsLanesSideBySide) {
    const auto work = [](const std::string& read) {
        return vector_work(
            parse_definition("op w(c: 8, o: 64)\nin X f32[c, " + read + "] of [8, 64]\nout Y f32[c, o] = X\n",
                             "test"),
            {8, 64}, 1, 16);
    };
    EXPECT_EQ(work("o - 1"), work("o"));
    EXPECT_GT(work("63 - o").gathers, 0);
}

TEST(CostModel, AnElementAloneTakesAGroupsLoad) {
    // The table has no gathers: fitted alone they would take nothing.
    const CostModel model(testing::measured_machine());
    const Definition d = parse_definition("op turn(i: 16, j: 16)\nin X f32[j, i]\nout Y f32[i, j] = X\n", "");
    const LeafCost cost = model.leaf(d, testing::leaf_of("turn[loops lanes=16 x=j]"), {16, 16});
    EXPECT_NEAR(cost.near_seconds, 272e-9, 1e-11);
}

}  // namespace
}  // namespace tessera::cost
