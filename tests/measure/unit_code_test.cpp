// The code that a matrix unit's peaks are measured with, with the tiles emulated: it computes what it counts.

#include "measure/unit_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codegen/toolchain.h"
#include "machine/machine_text.h"
#include "runtime/shared_library.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

const ComputeUnit& unit(const Machine& machine, std::string_view name) {
    return *std::find_if(machine.units.begin(), machine.units.end(),
                         [&](const ComputeUnit& each) { return each.name == name; });
}

class TileProbe : public ::testing::Test {
protected:
    SharedObject compiled(const std::vector<std::string>& flags) const {
        const std::array probes = {*probe_of(unit(machine_, "amx-bf16"))};
        return compile_shared_object(unit_code(probes, Isa::kX86_64),
                                     {.compiler = {.command = {}, .flags = flags},
                                      .isa = Isa::kX86_64,
                                      .include_directory = std::string(TESSERA_SOURCE_DIR) + "/include",
                                      .cache_directory = folder_.path(),
                                      .search_path = "/usr/local/bin:/usr/bin:/bin"});
    }

    TemporaryFolder folder_;
    Machine machine_ = read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/amx.toml");
};

TEST_F(TileProbe, KeepsFourTilesOfSumsBusy) {
    const UnitProbe probe = *probe_of(unit(machine_, "amx-bf16"));
    EXPECT_EQ(probe.rows, 32);
    EXPECT_EQ(probe.groups, 2);
    EXPECT_EQ(probe.register_operations(1), 4 * 2.0 * 16 * 16 * 32);
    EXPECT_FALSE(probe_of(unit(machine_, "amx-int8"))) << "NTT has no such products";
}

TEST_F(TileProbe, MultipliesWhatItCounts) {
    if (kHostIsa != Isa::kX86_64) GTEST_SKIP() << "compiled for x86-64";
    const UnitProbe probe = *probe_of(unit(machine_, "amx-bf16"));
    const SharedLibrary code(compiled({}).bytes, "the unit probe");
    code.function<RegisterFunction>(register_function(probe))(3);
    constexpr int64_t kColumns = 64, kDepth = 96;
    const std::vector<uint16_t> a(static_cast<size_t>(probe.rows * kDepth), 0x3f80),  // 1
        b(static_cast<size_t>(kColumns * kDepth), 0x4000);                            // 2
    std::vector<float> c(static_cast<size_t>(probe.rows * kColumns), -1.0f);
    code.function<FedFunction>(fed_function(probe))(a.data(), b.data(), c.data(), kColumns, kDepth);
    EXPECT_EQ(std::count(c.begin(), c.end(), 2.0f * kDepth), std::ssize(c));
    EXPECT_EQ(probe.fed_operations(kColumns, kDepth), 2.0 * static_cast<double>(c.size()) * kDepth);
}

TEST_F(TileProbe, CompilesForTheUnitItself) {
    if (kHostIsa != Isa::kX86_64) GTEST_SKIP() << "compiled for x86-64";
    EXPECT_FALSE(compiled(machine_.compiler.flags).bytes.empty());
}

}  // namespace
}  // namespace tessera
