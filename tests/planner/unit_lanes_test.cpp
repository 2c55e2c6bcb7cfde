#include "planner/unit_lanes.h"

#include <gtest/gtest.h>

#include "machine/cpu_features.h"

namespace tessera {
namespace {

PlannerOptions options_of(const std::set<std::string>& more) {
    std::set<std::string> features = {"avx512f", "avx512vl", "avx512dq", "avx512bw", "fma"};
    features.insert(more.begin(), more.end());
    return {.machine = "test", .lanes = 16, .units = feature_units(Isa::kX86_64, features)};
}

ComputeUnit& unit(PlannerOptions& options, std::string_view name) {
    return *std::find_if(options.units.begin(), options.units.end(),
                         [&](const ComputeUnit& u) { return u.name == name; });
}

TEST(UnitLanes, WithoutAUnitForTheTypeThereAreNoLanesAlongK) {
    const PlannerOptions options = options_of({});
    EXPECT_EQ(k_lanes(options, ElementType::kBF16), 1);
    EXPECT_FALSE(adds_products(options, ElementType::kBF16));
}

TEST(UnitLanes, ADotProductUnitWantsPairsAndAddsThem) {
    const PlannerOptions options = options_of({"avx512_bf16"});
    EXPECT_EQ(k_lanes(options, ElementType::kBF16), 2);
    EXPECT_TRUE(adds_products(options, ElementType::kBF16));
    EXPECT_EQ(k_lanes(options, ElementType::kF16), 1);
    EXPECT_FALSE(adds_products(options, ElementType::kF32));
}

TEST(UnitLanes, TilesWantThePairsToo) {
    const PlannerOptions options = options_of({"amx_tile", "amx_bf16"});
    EXPECT_EQ(k_lanes(options, ElementType::kBF16), 2);
    EXPECT_FALSE(adds_products(options, ElementType::kBF16)) << "no vector unit does";
}

TEST(UnitLanes, LanesOfAnotherWidthAreNotThoseOfTheLayout) {
    PlannerOptions options = options_of({"avx512_bf16"});
    options.lanes = 8;
    EXPECT_EQ(k_lanes(options, ElementType::kBF16), 1);
}

TEST(UnitLanes, AUnitMeasuredSlowerThanWideningIsNotUsed) {
    PlannerOptions options = options_of({"avx512_bf16"});
    unit(options, "avx512").peaks = {{"registers", 240e9}};
    unit(options, "avx512-bf16").peaks = {{"registers", 120e9}};
    EXPECT_FALSE(adds_products(options, ElementType::kBF16));
    EXPECT_EQ(k_lanes(options, ElementType::kBF16), 2) << "widened from pairs";
    unit(options, "avx512-bf16").peaks = {{"registers", 470e9}};
    EXPECT_TRUE(adds_products(options, ElementType::kBF16));
}

}  // namespace
}  // namespace tessera
