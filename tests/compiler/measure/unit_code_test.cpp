// The code that the peaks of units are measured with, tiles emulated: its results match its operation counts.

#include "compiler/measure/unit_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/toolchain.h"
#include "machine/machine_text.h"
#include "run/runtime/shared_library.h"
#include "support/temporary_folder.h"

namespace tessera::measure {
namespace {

const machine::ComputeUnit& unit(const machine::Machine& machine, std::string_view name) {
    return *std::find_if(machine.units.begin(), machine.units.end(),
                         [&](const machine::ComputeUnit& each) { return each.name == name; });
}

class ProbeOf : public ::testing::TestWithParam<const char*> {
protected:
    backend::SharedObject compiled(const std::vector<std::string>& flags) const {
        const std::array probes = {probe_};
        return backend::compile_shared_object(
            unit_code(probes, machine::Isa::kX86_64),
            {.compiler = {.command = {}, .flags = flags},
             .isa = machine::Isa::kX86_64,
             .include_directory = std::string(TESSERA_SOURCE_DIR) + "/include",
             .cache_directory = folder_.path(),
             .search_path = "/usr/local/bin:/usr/bin:/bin"});
    }
    /// Checks products of the numbers 1 and 2, whatever their layout.
    template <class Number, class Sum>
    void expect_products(Number one, Number two) const {
        const runtime::SharedLibrary code(compiled({}).bytes, "the unit probe");
        code.function<RegisterFunction>(register_function(probe_))(3);
        constexpr int64_t kColumns = 64, kDepth = 192;
        const std::vector<Number> a(static_cast<size_t>(probe_.rows * kDepth), one),
            b(static_cast<size_t>(kColumns * kDepth), two);
        std::vector<Sum> c(static_cast<size_t>(probe_.rows * kColumns), Sum{-1});
        code.function<FedFunction>(fed_function(probe_))(a.data(), b.data(), c.data(), kColumns, kDepth);
        EXPECT_EQ(std::count(c.begin(), c.end(), Sum{2 * kDepth}), std::ssize(c));
        EXPECT_EQ(probe_.fed_operations(kColumns, kDepth), 2.0 * static_cast<double>(c.size()) * kDepth);
    }

    TemporaryFolder folder_;
    machine::Machine machine_ = machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/amx.toml");
    UnitProbe probe_ = *probe_of(unit(machine_, GetParam()));
};

TEST_P(ProbeOf, MultipliesWhatItCounts) {
    if (machine::kHostIsa != machine::Isa::kX86_64) GTEST_SKIP() << "compiled for x86-64";
    switch (probe_.element_bytes) {
        case 4:
            return expect_products<float, float>(1, 2);
        case 2:
            return expect_products<uint16_t, float>(0x3f80, 0x4000);
        default:
            return probe_.tile_rows > 0 ? expect_products<int8_t, int32_t>(1, 2)
                                        : expect_products<int8_t, float>(1, 2);
    }
}

TEST_P(ProbeOf, CompilesForTheUnitItself) {
    if (machine::kHostIsa != machine::Isa::kX86_64) GTEST_SKIP() << "compiled for x86-64";
    EXPECT_FALSE(compiled(machine_.compiler.flags).bytes.empty());
}

INSTANTIATE_TEST_SUITE_P(UnitsOfTheAmxMachine, ProbeOf,
                         ::testing::Values("avx512", "avx512-bf16", "avx512-vnni", "amx-bf16", "amx-int8"),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(TileProbe, KeepsFourTilesOfSumsBusy) {
    const machine::Machine machine =
        machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/amx.toml");
    for (const auto& [name, depth] : {std::pair("amx-bf16", 32), std::pair("amx-int8", 64)}) {
        const UnitProbe probe = *probe_of(unit(machine, name));
        EXPECT_EQ(probe.rows, 32);
        EXPECT_EQ(probe.groups, 2);
        EXPECT_EQ(probe.register_operations(1), 4 * 2.0 * 16 * 16 * depth);
    }
    EXPECT_FALSE(probe_of(unit(machine, "scalar")));
}

}  // namespace
}  // namespace tessera::measure
