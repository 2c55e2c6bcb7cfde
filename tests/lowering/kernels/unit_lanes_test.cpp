#include "lowering/kernels/unit_lanes.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/cpu_features.h"

namespace tessera::kernels {
namespace {

std::vector<machine::ComputeUnit> units_of(const std::set<std::string>& more) {
    std::set<std::string> features = {"avx512f", "avx512vl", "avx512dq", "avx512bw", "fma"};
    features.insert(more.begin(), more.end());
    return machine::feature_units(machine::Isa::kX86_64, features);
}

machine::ComputeUnit& unit(std::vector<machine::ComputeUnit>& units, std::string_view name) {
    return *std::find_if(units.begin(), units.end(),
                         [&](const machine::ComputeUnit& u) { return u.name == name; });
}

TEST(UnitLanes, WithoutAUnitForTheTypeThereAreNoLanesAlongK) {
    const std::vector<machine::ComputeUnit> units = units_of({});
    const KernelTarget target{.units = units};
    EXPECT_EQ(k_lanes(target, ElementType::kBF16), 1);
    EXPECT_FALSE(adds_products(target, ElementType::kBF16));
}

TEST(UnitLanes, ADotProductUnitWantsPairsAndAddsThem) {
    const std::vector<machine::ComputeUnit> units = units_of({"avx512_bf16"});
    const KernelTarget target{.units = units};
    EXPECT_EQ(k_lanes(target, ElementType::kBF16), 2);
    EXPECT_TRUE(adds_products(target, ElementType::kBF16));
    EXPECT_EQ(k_lanes(target, ElementType::kF16), 1);
    EXPECT_FALSE(adds_products(target, ElementType::kF32));
}

TEST(UnitLanes, TilesWantThePairsToo) {
    const std::vector<machine::ComputeUnit> units = units_of({"amx_tile", "amx_bf16"});
    const KernelTarget target{.units = units};
    EXPECT_EQ(k_lanes(target, ElementType::kBF16), 2);
    EXPECT_FALSE(adds_products(target, ElementType::kBF16)) << "no vector unit does";
}

TEST(UnitLanes, LanesOfAnotherWidthAreNotThoseOfTheLayout) {
    std::vector<machine::ComputeUnit> units = units_of({"avx512_bf16"});
    KernelTarget target{.units = units};
    target.lanes = 8;
    EXPECT_EQ(k_lanes(target, ElementType::kBF16), 1);
}

TEST(UnitLanes, AUnitMeasuredSlowerThanWideningIsNotUsed) {
    std::vector<machine::ComputeUnit> units = units_of({"avx512_bf16"});
    KernelTarget target{.units = units};
    unit(units, "avx512").peaks = {{"registers", 240e9}};
    unit(units, "avx512-bf16").peaks = {{"registers", 120e9}};
    EXPECT_FALSE(adds_products(target, ElementType::kBF16));
    EXPECT_EQ(k_lanes(target, ElementType::kBF16), 2) << "widened from pairs";
    unit(units, "avx512-bf16").peaks = {{"registers", 470e9}};
    EXPECT_TRUE(adds_products(target, ElementType::kBF16));
}

}  // namespace
}  // namespace tessera::kernels
