#include <functional>

#include <gtest/gtest.h>

#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "ir/ops/decompose.h"
#include "support/temporary_folder.h"

// Every architecture and each of its variants, in both formats, against plain loops in float64.

namespace tessera::import {
namespace {

using testing::RandomDecoder;

struct Variant {
    const char* name;
    std::function<void(RandomDecoder&)> change;
    bool has_gguf = true;
};

const nlohmann::json kLlama3 = {{"rope_type", "llama3"},
                                {"factor", 8.0},
                                {"low_freq_factor", 1.0},
                                {"high_freq_factor", 4.0},
                                {"original_max_position_embeddings", 64}};

// theta 100 and 6 pairs put frequencies into all three ranges of llama3's scaling.
const Variant kVariants[] = {
    {"llama_plain", [](RandomDecoder&) {}},
    {"llama_tied", [](RandomDecoder& m) { m.tied = true; }},
    {"llama_biases", [](RandomDecoder& m) { m.qkv_bias = m.output_bias = m.feed_forward_bias = true; }},
    {"llama_one_head", [](RandomDecoder& m) { m.heads = m.cache_heads = 1, m.width = 20; }},
    {"llama_linear",
     [](RandomDecoder& m) {
         m.rope_scaling = {{"rope_type", "linear"}, {"factor", 4.0}};
     }},
    {"llama_llama3", [](RandomDecoder& m) { m.rope_scaling = kLlama3, m.theta = 100, m.width = 12; }},
    {"qwen2", [](RandomDecoder& m) { m.architecture = "qwen2", m.qkv_bias = true; }},
    {"qwen3",
     [](RandomDecoder& m) { m.architecture = "qwen3", m.head_norms = m.tied = true, m.epsilon = 1e-3; }},
    {"qwen3_biases",
     [](RandomDecoder& m) { m.architecture = "qwen3", m.head_norms = m.qkv_bias = m.output_bias = true; },
     false},
};

class EveryArchitecture : public ::testing::TestWithParam<Variant> {
protected:
    EveryArchitecture() {
        GetParam().change(decoder_);
        decoder_.fill(7);
    }

    void expect_logits(const std::filesystem::path& path) {
        EXPECT_LT(testing::distance_from_loops(import_model(path), decoder_), 3e-6);
    }

    RandomDecoder decoder_;
    TemporaryFolder folder_;
};

TEST_P(EveryArchitecture, HuggingFaceComputesWhatPlainLoopsDo) {
    testing::write_hugging_face(decoder_, folder_.path());
    expect_logits(folder_.path());
}

TEST_P(EveryArchitecture, GgufComputesWhatPlainLoopsDo) {
    if (!GetParam().has_gguf) GTEST_SKIP() << "no GGUF file has this variant";
    testing::write_gguf(decoder_, folder_.path() / "model.gguf");
    expect_logits(folder_.path() / "model.gguf");
}

TEST_P(EveryArchitecture, GraphsVerifyAndPrintedFormsParseBack) {
    testing::write_hugging_face(decoder_, folder_.path());
    const Graph graph = import_model(folder_.path()).graph;
    verify(graph, "imported");
    EXPECT_EQ(print(parse_graph(print(graph), "printed")), print(graph));
    const Graph structured = ops::decompose(graph);
    verify(structured, "decomposed");
    EXPECT_EQ(print(parse_graph(print(structured), "printed")), print(structured));
    EXPECT_EQ(print(ops::decompose(structured)), print(structured)) << "decompose is idempotent";
}

INSTANTIATE_TEST_SUITE_P(All, EveryArchitecture, ::testing::ValuesIn(kVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

}  // namespace
}  // namespace tessera::import
