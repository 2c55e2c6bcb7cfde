// The emitted code of one small graph under each micro-kernel, as files that can be read:
// tests/golden/emission/*.cpp. TESSERA_UPDATE_GOLDEN=1 in the environment rewrites them; a missing one fails.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "backend/cpp/emit.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/movement/example_plans.h"
#include "support/subprocess.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

std::string emitted(const Example& example) {
    const Graph graph = example.parsed();
    const plan::Plan plan = example.planned();
    return backend::cpp::emit(graph.name, {lowering::lower(graph, plan, plan.specialisations[0],
                                                           plan::constant_section(graph, plan))})
        .text;
}

fs::path golden_file(const std::string& name) {
    return fs::path(TESSERA_SOURCE_DIR) / "tests" / "golden" / "emission" / (name + ".cpp");
}

class Emission : public ::testing::TestWithParam<std::string> {};

TEST_P(Emission, IsWhatTheFileShows) {
    ASSERT_TRUE(examples().contains(GetParam())) << "micro-kernel " << GetParam() << " needs an example here";
    const std::string code = emitted(examples().at(GetParam()));
    EXPECT_NE(code.find(GetParam() == "loops"                  ? "ntt::store_group"
                        : GetParam() == "dot"                  ? "ntt::contract_k<"
                        : GetParam() == "stream"               ? "ntt::softmax_step<"
                        : GetParam() == "stream_tiles"         ? "ntt::softmax_step_tiles<"
                        : GetParam() == "contract_blocks"      ? "ntt::contract_blocks<"
                        : GetParam() == "contract_block_tiles" ? "ntt::contract_block_tiles<"
                        : GetParam() == "contract_tiles"       ? "ntt::contract_tiles<"
                        : GetParam() == "combine"              ? "weights_of_attend[part]"
                        : GetParam() == "chunk"                ? "decays_of_scan["
                                                               : "ntt::contract<"),
              std::string::npos);
    const fs::path path = golden_file(GetParam());
    if (std::getenv("TESSERA_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << code;
    std::ifstream file(path);
    ASSERT_TRUE(file.good()) << path << " is missing; TESSERA_UPDATE_GOLDEN=1 writes it";
    std::ostringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(code, golden.str()) << "TESSERA_UPDATE_GOLDEN=1 rewrites " << path;
}

TEST_P(Emission, CompilesWithoutWarningsUnderEveryCompiler) {
    int compilers = 0;
    for (const char* compiler : {"/usr/bin/g++", "/usr/bin/clang++-14"}) {
        if (!fs::exists(compiler)) continue;
        const ProcessResult result =
            run_process({.program = compiler,
                         .arguments = {"-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-c", "-o",
                                       "/dev/null", "-I" + std::string(TESSERA_SOURCE_DIR) + "/include",
                                       golden_file(GetParam()).string()}});
        EXPECT_EQ(result.exit_code, 0) << compiler << "\n" << result.errors.substr(0, 2000);
        ++compilers;
    }
    EXPECT_GE(compilers, 1);
}

INSTANTIATE_TEST_SUITE_P(Examples, Emission, ::testing::ValuesIn(example_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tessera::testing
