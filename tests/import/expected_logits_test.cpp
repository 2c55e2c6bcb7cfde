#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/expected_checkpoint.h"
#include "import/import_model.h"
#include "import/run_model.h"
#include "ir/ops/decompose.h"
#include "support/temporary_folder.h"

// Random checkpoints of every architecture, in both formats, against logits of HuggingFace transformers:
// expected/make.py makes the files and says what is in them.

namespace tessera::import {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ExpectedLogits : public ::testing::TestWithParam<const char*> {
protected:
    ImportedModel imported(const fs::path& path) {
        return import_model(path, {.context = variant_.value("context", int64_t{0})});
    }

    /// Over two chunks, of which the second reads the cache of the first.
    void expect_logits(const fs::path& path) {
        const ImportedModel model = imported(path);
        const auto tokens = variant_.at("tokens").get<std::vector<int64_t>>();
        testing::InterpretedSession session(model, 32);
        std::vector<double> found = session.step({tokens.begin(), tokens.begin() + 17});
        const std::vector<double> rest = session.step({tokens.begin() + 17, tokens.end()});
        found.insert(found.end(), rest.begin(), rest.end());
        const double distance =
            testing::distance_of_range(found, variant_.at("logits").get<std::vector<double>>());
        EXPECT_LT(distance, 3e-6);
        RecordProperty("distance", std::to_string(distance * 1e9) + "e-9");
    }

    const json variant_ = testing::expected_variant(TESSERA_SOURCE_DIR, GetParam());
    TemporaryFolder folder_;
};

TEST_P(ExpectedLogits, OfFoldersAreThoseOfTransformers) {
    testing::write_variant_folder(variant_, folder_.path());
    expect_logits(folder_.path());
}

TEST_P(ExpectedLogits, OfGgufFilesAreThoseOfTransformers) {
    if (variant_.at("gguf").is_null()) GTEST_SKIP() << "no GGUF file has this variant";
    testing::write_variant_gguf(variant_, folder_.path() / "model.gguf");
    expect_logits(folder_.path() / "model.gguf");
}

TEST_P(ExpectedLogits, NothingIsLeftUnsaidAboutThem) {
    testing::write_variant_folder(variant_, folder_.path());
    const ModelReport report = inspect_model(folder_.path());
    EXPECT_THAT(report.checkpoint.findings.unsupported, ::testing::IsEmpty());
    EXPECT_THAT(report.checkpoint.findings.warnings, ::testing::IsEmpty());
}

TEST_P(ExpectedLogits, GraphsVerifyAndPrintedFormsParseBack) {
    testing::write_variant_folder(variant_, folder_.path());
    const Graph structured = ops::decompose(imported(folder_.path()).graph);
    verify(structured, "decomposed");
    EXPECT_EQ(print(parse_graph(print(structured), "printed")), print(structured));
}

INSTANTIATE_TEST_SUITE_P(All, ExpectedLogits,
                         ::testing::Values("llama_gelu", "mistral_window", "mistral_yarn", "qwen3_yarn",
                                           "gemma2", "gemma2_scale", "gemma3", "gemma3n", "gemma4",
                                           "gemma4_moe", "phi3_window", "phi3_long", "phi3_short", "smollm3",
                                           "olmo2", "opt", "opt_behind", "opt_bare", "gpt2", "qwen3_moe",
                                           "qwen3_moe_all", "mixtral", "deepseek_v3", "kimi_linear", "lfm3",
                                           "zamba2", "olmo_hybrid", "stated_mixtral", "stated_llama_yarn",
                                           "stated_llama3", "stated_phi3_long", "stated_phi3_part",
                                           "stated_phi3_odd_part", "stated_gemma3_cap", "stated_qwen2_window",
                                           "stated_qwen3_moe_window", "stated_gpt2"),
                         [](const auto& variant) { return std::string(variant.param); });

}  // namespace
}  // namespace tessera::import
