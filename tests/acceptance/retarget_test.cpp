// One artefact, moved through every machine of machines/ and back: each equals the result of a direct
// compilation.

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "acceptance/shipped_model.h"
#include "compiler/compiler.h"
#include "machine/cpu_features.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/error.h"
#include "support/search_path.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

class Retarget : public ::testing::Test {
protected:
    compiler::CompileOptions options(const std::string& machine) const {
        return {
            .machine = machine::read_machine(fs::path(TESSERA_SOURCE_DIR) / "machines" / (machine + ".toml")),
            .ntt_include = fs::path(TESSERA_SOURCE_DIR) / "include",
            .search_path = compiler_search_path(),
            .cache = folder_.path() / "cache"};
    }
    bool can_run(const std::string& machine) const {
        const compiler::CompileOptions o = options(machine);
        return o.machine.isa == machine::kHostIsa &&
               machine::missing_features(o.machine.isa, o.machine.compiler.flags, machine::host_features())
                   .empty();
    }
    fs::path compiled(const std::string& machine) const {
        const fs::path path = folder_.path() / (machine + ".compiled.tsr");
        if (!fs::exists(path)) (void)compiler::compile_model(shipped_model(), path, options(machine));
        return path;
    }
    fs::path retargeted(const fs::path& from, const std::string& machine) const {
        const fs::path path = folder_.path() / (machine + ".retargeted.tsr");
        (void)compiler::retarget_artefact(from, path, options(machine));
        return path;
    }

    TemporaryFolder folder_;
};

TEST_F(Retarget, GivesWhatADirectCompilationGives) {
    if (machine::kHostIsa != machine::Isa::kX86_64) GTEST_SKIP() << "the machines are x86-64";
    fs::path artefact = compiled("avx512");
    for (const std::string machine : {"generic-x86-64", "avx512"}) {
        artefact = retargeted(artefact, machine);
        EXPECT_TRUE(bytes_of(artefact) == bytes_of(compiled(machine))) << machine;
        if (can_run(machine)) {
            EXPECT_LE(compared_with_reference(artefact, 0).worst_error(), 3e-6) << machine;
            EXPECT_LE(compared_with_reference(artefact, 1).worst_error(), 3e-6) << machine;
        }
        fs::rename(artefact, folder_.path() / "current.tsr");
        artefact = folder_.path() / "current.tsr";
    }
}

TEST_F(Retarget, RefusesWhatIsNoArtefact) {
    const fs::path path = folder_.path() / "text.tsr";
    std::ofstream(path) << "not an artefact";
    EXPECT_THROW(
        (void)compiler::retarget_artefact(path, folder_.path() / "out.tsr", options("generic-x86-64")),
        Error);
    EXPECT_FALSE(fs::exists(folder_.path() / "out.tsr"));
}

}  // namespace
}  // namespace tessera::testing
