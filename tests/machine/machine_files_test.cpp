// The files of machines/: each parses, prints and parses back, and describes the machine of its name.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/cpu_features.h"
#include "machine/machine_text.h"

namespace tessera::machine {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
    return fs::path(TESSERA_SOURCE_DIR) / "machines";
}

std::vector<fs::path> machine_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder()))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    return files;
}

std::set<std::string> features_of_flags(const std::vector<std::string>& flags) {
    std::set<std::string> features;
    for (const std::string& flag : flags)
        for (const char* feature : {"avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl",
                                    "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"})
            if (missing_features(Isa::kX86_64, {flag}, {feature}).empty()) features.insert(feature);
    return features;
}

class MachineFile : public ::testing::TestWithParam<fs::path> {};

TEST_P(MachineFile, PrintsAndParsesBack) {
    const Machine machine = read_machine(GetParam());
    EXPECT_EQ(machine.name, GetParam().stem());
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
}

// A level holds no less than the one inside it, and no core shares an inner cache that it does not share
// further out.
TEST_P(MachineFile, MemoryGrowsOutwards) {
    const Machine machine = read_machine(GetParam());
    EXPECT_EQ(machine.memory.back().name, "memory");
    for (size_t i = 1; i < machine.memory.size(); ++i) {
        EXPECT_GT(machine.memory[i].capacity_bytes, machine.memory[i - 1].capacity_bytes);
    }
}

TEST_P(MachineFile, FlagsAreOfItsInstructionSet) {
    const Machine machine = read_machine(GetParam());
    for (const std::string& flag : machine.compiler.flags)
        EXPECT_EQ(flag.starts_with("-march=armv8"), machine.isa == Isa::kAArch64) << flag;
}

// A described machine has what the probe would find on one with these instructions.
TEST_P(MachineFile, UnitsFollowFromTheFlags) {
    const Machine machine = read_machine(GetParam());
    EXPECT_EQ(machine.units, feature_units(machine.isa, features_of_flags(machine.compiler.flags)));
}

INSTANTIATE_TEST_SUITE_P(All, MachineFile, ::testing::ValuesIn(machine_files()), [](const auto& test) {
    std::string name = test.param.stem().string();
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
});

TEST(MachineFiles, HaveTheLanesOfTheirInstructionSets) {
    const auto lanes = [](const std::string& name) {
        return vector_lanes(read_machine(folder() / (name + ".toml")));
    };
    EXPECT_EQ(lanes("generic-x86-64"), 4);
    EXPECT_EQ(lanes("avx2"), 8);
    EXPECT_EQ(lanes("avx512"), 16);
    EXPECT_EQ(lanes("amx"), 16);
    EXPECT_EQ(lanes("neon"), 4);
}

TEST(MachineFiles, AmxReadsBInPairsOfRows) {
    const Machine machine = read_machine(folder() / "amx.toml");
    const auto found = std::find_if(machine.units.begin(), machine.units.end(),
                                    [](const ComputeUnit& unit) { return unit.name == "amx-bf16"; });
    ASSERT_NE(found, machine.units.end());
    const ComputeUnit& unit = *found;
    ASSERT_EQ(unit.kind, UnitKind::kMatrix);
    EXPECT_EQ(print_lanes(unit.operands[0].lanes), "m16,k32");
    EXPECT_EQ(print_lanes(unit.operands[1].lanes), "k16,n16,k2");
    EXPECT_EQ(print_lanes(unit.operands[2].lanes), "m16,n16");
    EXPECT_EQ(unit.operands[1].type, "bf16");
    EXPECT_EQ(unit.operands[2].type, "f32");
}

}  // namespace
}  // namespace tessera::machine
