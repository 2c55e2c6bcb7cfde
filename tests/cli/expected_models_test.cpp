// Models with windows, caps, norms of other kinds and learned positions, compiled and verified by the
// program, against transformers.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/expected_checkpoint.h"
#include "import/random_checkpoint.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

class ExpectedModels : public ::testing::TestWithParam<const char*> {};

TEST_P(ExpectedModels, CompiledLogitsAreThoseOfTransformers) {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    const auto tessera = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"XDG_CACHE_HOME=" + path("cache"), TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    };
    const nlohmann::json variant = testing::expected_variant(TESSERA_SOURCE_DIR, GetParam());
    testing::write_variant_folder(variant, folder.path());
    const auto logits = variant.at("logits").get<std::vector<float>>();
    testing::write_file(path("ids.json"), variant.at("tokens").dump());
    testing::write_file(path("logits.bin"),
                        {reinterpret_cast<const char*>(logits.data()), logits.size() * sizeof(float)});
    const ProcessResult compiled =
        tessera({"compile", folder.path().string(), "-o", path("model.tsr"), "-q", "--policy", "exact"});
    ASSERT_EQ(compiled.exit_code, 0) << compiled.errors;
    for (const char* chunk : {"1", "7"}) {
        const ProcessResult verified = tessera({"verify", path("model.tsr"), "--ids", path("ids.json"),
                                                "--logits", path("logits.bin"), "--chunk", chunk});
        EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    }
}

INSTANTIATE_TEST_SUITE_P(Some, ExpectedModels,
                         ::testing::Values("gemma2", "gemma3", "olmo2", "gpt2", "qwen3_moe"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace tessera
