#include "machine/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::machine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::set<std::string> kAvx2 = {"sse4_2", "avx", "avx2", "fma"};

std::set<std::string> with(std::set<std::string> features, const std::set<std::string>& more) {
    features.insert(more.begin(), more.end());
    return features;
}

const std::set<std::string> kAvx512 = with(kAvx2, {"avx512f", "avx512vl", "avx512dq", "avx512bw"});

int64_t lanes(const std::set<std::string>& features) {
    return feature_units(Isa::kX86_64, features).at(1).operands.front().lanes.front().factor;
}

TEST(CpuFeatures, ReadsTheFirstCoreOfEitherInstructionSet) {
    EXPECT_THAT(parse_cpuinfo("processor\t: 0\nflags\t\t: fpu avx2\nflags\t\t: fpu\n"),
                UnorderedElementsAre("fpu", "avx2"));
    EXPECT_THAT(parse_cpuinfo("processor\t: 0\nFeatures\t: fp asimd\n"), UnorderedElementsAre("fp", "asimd"));
    EXPECT_THAT(parse_cpuinfo("model name : flags\n"), IsEmpty());
}

TEST(CpuFeatures, WidthNeedsAllThatTheCodeUses) {
    EXPECT_EQ(lanes({}), 4);
    EXPECT_EQ(lanes({"avx2"}), 4);  // without fma
    EXPECT_EQ(lanes(kAvx2), 8);
    EXPECT_EQ(lanes(kAvx512), 16);
    EXPECT_EQ(lanes(with(kAvx2, {"avx512f"})), 8);  // Knights Landing
}

TEST(CpuFeatures, AmxIsAUnitOnlyWithTilesAndBf16) {
    EXPECT_EQ(feature_units(Isa::kX86_64, kAvx512).size(), 2U);
    EXPECT_EQ(feature_units(Isa::kX86_64, with(kAvx512, {"amx_tile"})).size(), 2U);
    EXPECT_EQ(feature_units(Isa::kX86_64, with(kAvx512, {"amx_tile", "amx_bf16"})).back().kind,
              UnitKind::kMatrix);
}

TEST(CpuFeatures, DotProductsAddNeighbours) {
    const auto units = feature_units(Isa::kX86_64, with(kAvx512, {"avx512_bf16", "avx512_vnni"}));
    ASSERT_EQ(units.size(), 4U);
    EXPECT_EQ(units[2].operands[0].lanes, (std::vector<LaneAxis>{{'i', 16}, {'k', 2}}));
    EXPECT_EQ(units[2].operands[2].type, "f32");
    EXPECT_EQ(units[3].operands[1].lanes, (std::vector<LaneAxis>{{'i', 16}, {'k', 4}}));
    EXPECT_EQ(units[3].operands[2].type, "i32");
    EXPECT_EQ(feature_units(Isa::kX86_64, with(kAvx2, {"avx512_bf16"})).size(), 2U);  // not without the width
}

TEST(CpuFeatures, FlagsAndFeaturesAreInverse) {
    const auto flags = feature_flags(Isa::kX86_64, kAvx512);
    EXPECT_THAT(flags, Contains("-mavx512vl"));
    EXPECT_THAT(missing_features(Isa::kX86_64, flags, kAvx512), IsEmpty());
    EXPECT_THAT(missing_features(Isa::kX86_64, flags, kAvx2),
                ElementsAre("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"));
}

TEST(CpuFeatures, UnknownFlagsCountAsMissing) {
    EXPECT_THAT(missing_features(Isa::kX86_64, {"-mfuture", "-mtune=znver4"}, kAvx512),
                ElementsAre("-mfuture"));
    EXPECT_THAT(missing_features(Isa::kAArch64, {"-mavx2"}, kAvx512), ElementsAre("-mavx2"));
    EXPECT_THAT(missing_features(Isa::kAArch64, feature_flags(Isa::kAArch64, {}), {}), IsEmpty());
}

}  // namespace
}  // namespace tessera::machine
