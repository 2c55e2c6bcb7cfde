#include "cost/typical_rates.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "cost/measured_machine.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/matmul.h"
#include "lowering/kernels/leaf_of.h"
#include "machine/machine_text.h"

namespace tessera::cost {
namespace {

machine::Machine described(const char* name) {
    return machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/" + name + ".toml");
}

double peak_of(const machine::Machine& machine, const char* unit) {
    return machine::peak(*std::ranges::find(machine.units, unit, &machine::ComputeUnit::name));
}

TEST(TypicalRates, FollowFromTheLanesOfUnits) {
    const machine::Machine machine = with_typical_rates(described("amx"));
    EXPECT_EQ(machine::peak(*machine::find_unit(machine, machine::UnitKind::kVector, "f32")),
              3e9 * 2 * 2 * 16);
    const auto tiles =
        std::ranges::find(machine.units, machine::UnitKind::kMatrix, &machine::ComputeUnit::kind);
    ASSERT_NE(tiles, machine.units.end());
    EXPECT_EQ(machine::peak(*tiles), 3e9 * 2 * 16 * 16 * 32 / 16);
}

TEST(TypicalRates, CachesAnswerFasterThanWhatIsBehindThem) {
    const machine::Machine machine = with_typical_rates(described("avx2"));
    double inside = 0;
    for (const machine::MemoryLevel& level : machine.memory) {
        const double each = 1 / level.read_bandwidth.front().bytes_per_second;
        EXPECT_GT(each, inside) << level.name;
        inside = each;
        EXPECT_EQ(level.read_bandwidth.back().threads, machine.cores);
    }
}

TEST(TypicalRates, WhatTheDescriptionGivesStays) {
    const machine::Machine machine = testing::measured_machine();
    EXPECT_EQ(with_typical_rates(machine), machine);
    machine::Machine some = described("avx2");
    some.memory.front().read_bandwidth = {{1, 7, 0}};
    some.units.back().peaks = {{"L1", 11}};
    const machine::Machine filled = with_typical_rates(some);
    EXPECT_EQ(filled.memory.front(), some.memory.front());
    EXPECT_EQ(peak_of(filled, "avx2"), 11);
}

// One operation on eight lanes, and three loads and stores of them.
TEST(TypicalRates, ACostModelOfADescriptionAlonePricesEverything) {
    const CostModel model(described("avx2"));
    EXPECT_FALSE(model.is_measured());
    const double operation = 1 / (3e9 * 2);
    const plan::Leaf loops = testing::leaf_of("y[loops lanes=8 x=d]");
    const DefinitionPtr add = ops::add({}, Dim(1), 64);
    EXPECT_NEAR(model.leaf(*add, loops, {1, 64}).near_seconds, 8 * (1 + 3) * operation, 1e-15);
    const plan::Leaf blocks = testing::leaf_of("y[contract_blocks groups=1 k=k lanes=8 m=t n=n rows=1]");
    const DefinitionPtr product =
        ops::matmul({}, {Dim(1), 8, 256}, ops::WeightFormat::kQ4_K, std::nullopt, ops::kInt15Blocks);
    const LeafCost cost = model.leaf(*product, blocks, {1, 8, 256});
    EXPECT_EQ(cost.why_infinite, "");
    EXPECT_NEAR(cost.near_seconds, (256 + 40 + 2) * operation, 256 * 0.003 * operation);
    EXPECT_TRUE(CostModel(testing::measured_machine()).is_measured());
}

}  // namespace
}  // namespace tessera::cost
