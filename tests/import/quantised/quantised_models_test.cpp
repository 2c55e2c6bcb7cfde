#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import_model.h"
#include "import/quantised/plain_blocks.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "ir/ops/decompose.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// GGUF files in every format, run by the interpreter, against plain loops on their dequantised values.

namespace tessera::import {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::RandomDecoder;

constexpr double kTolerance = 3e-6;

/// Rows of 256 elements, the blocks of the K formats.
RandomDecoder small_decoder() {
    RandomDecoder decoder;
    decoder.layers = 2;
    decoder.hidden = decoder.feed_forward = 256;
    decoder.heads = 4;
    decoder.cache_heads = 1;
    decoder.width = 64;
    decoder.vocabulary = 9;
    decoder.fill(3);
    return decoder;
}

void store(RandomDecoder& decoder, const std::string& name, const std::string& type,
           std::mt19937_64& random) {
    testing::NamedTensor& tensor = decoder.tensors.at(name);
    tensor.type = type;
    tensor.stored = testing::random_blocks(type, static_cast<int64_t>(tensor.values.size()),
                                           testing::Halves::kWeights, random);
    tensor.values = testing::dequantised(type, tensor.stored);
}

/// All matrices.
void store_all(RandomDecoder& decoder, const std::string& type) {
    std::mt19937_64 random(5);
    for (auto& [name, tensor] : decoder.tensors)
        if (tensor.shape.size() == 2) store(decoder, name, type, random);
}

class QuantisedModels : public ::testing::Test {
protected:
    ImportedModel imported(const RandomDecoder& decoder, const ImportOptions& options = {}) {
        testing::write_gguf(decoder, folder_.path() / "model.gguf");
        return import_model(folder_.path() / "model.gguf", options);
    }

    /// In two chunks; the cache is F32.
    void expect_logits(const RandomDecoder& decoder) {
        const ImportedModel model = imported(decoder, {.policy = Policy::kExact});
        const Graph structured = ops::decompose(model.graph);
        verify(structured, "decomposed");
        EXPECT_EQ(print(parse_graph(print(structured), "printed")), print(structured));
        const std::vector<int64_t> tokens = {3, 1, 8, 0};
        testing::InterpretedSession session(model, 16);
        std::vector<double> found = session.step({3, 1, 8});
        const std::vector<double> last = session.step({0});
        found.insert(found.end(), last.begin(), last.end());
        EXPECT_LT(testing::distance_of_range(found, testing::naive_logits(decoder, tokens)), kTolerance);
    }

    TemporaryFolder folder_;
};

class EveryFormat : public QuantisedModels, public ::testing::WithParamInterface<std::string> {};

TEST_P(EveryFormat, ComputesWhatPlainLoopsDo) {
    RandomDecoder decoder = small_decoder();
    store_all(decoder, GetParam());
    expect_logits(decoder);
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormat, ::testing::ValuesIn(testing::quantised_types()),
                         [](const auto& instance) { return instance.param; });

TEST_F(QuantisedModels, FormatsMayDifferByTensorAndLayer) {
    RandomDecoder decoder = small_decoder();
    store_all(decoder, "Q4_K");
    std::mt19937_64 random(6);
    store(decoder, "lm_head.weight", "Q6_K", random);
    store(decoder, "model.embed_tokens.weight", "Q8_0", random);
    store(decoder, "model.layers.1.self_attn.v_proj.weight", "Q6_K", random);
    store(decoder, "model.layers.1.mlp.down_proj.weight", "Q5_0", random);
    expect_logits(decoder);
}

TEST_F(QuantisedModels, TiedHeadReadsTheOperandsOfTheEmbedding) {
    RandomDecoder decoder = small_decoder();
    decoder.tied = true;
    decoder.tensors.erase("lm_head.weight");
    store_all(decoder, "Q6_K");
    expect_logits(decoder);
    const Graph graph = imported(decoder).graph;
    const Node& head = graph.blocks.back().nodes.back();
    ASSERT_EQ(head.operands.size(), 6u);
    EXPECT_EQ(graph[head.operands[0]].name, "final_normed_rounded");
    EXPECT_EQ(graph[head.operands[1]].name, "final_normed_rest");
    EXPECT_EQ(graph[head.operands[2]].name, "final_normed_scales");
    EXPECT_EQ(graph[head.operands[3]].name, "embedding_weight_q");
    EXPECT_EQ(graph[head.operands[5]].name, "embedding_weight_d");
}

// The rule of Q4_K_M: more bits for the values and the last product of the first and last eighth of the
// layers, and of every third one between.
TEST_F(QuantisedModels, LayersOfMixedFormatsFormFewGroups) {
    ModelSpec spec{.layers = std::vector<SpecPart>(28)};
    const auto n = static_cast<int>(spec.layers.size());
    for (int i = 0; i < n; ++i) {
        const bool has_more = i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
        for (const char* tensor : {"v_weight", "down_weight"})
            spec.layers[static_cast<size_t>(i)].tensors[tensor].format =
                has_more ? ops::WeightFormat::kQ6_K : ops::WeightFormat::kQ4_K;
    }
    const std::vector<LayerGroup> groups = group_layers(spec);
    int64_t compiled = 0;
    for (const LayerGroup& group : groups) compiled += group.period;
    EXPECT_LE(groups.size(), 3u);
    EXPECT_LE(compiled, 5);
}

TEST_F(QuantisedModels, CacheIsHalfUnderTheDefaultPolicy) {
    RandomDecoder decoder = small_decoder();
    store_all(decoder, "Q4_0");
    const auto cache = [&](const ImportOptions& options) {
        const Graph graph = imported(decoder, options).graph;
        return graph[graph.find("layer_k_cache").value()].type.element;
    };
    EXPECT_EQ(cache({}), ElementType::kBF16);
    EXPECT_EQ(cache({.policy = Policy::kExact}), ElementType::kF32);
    EXPECT_EQ(cache({.cache = ops::WeightFormat::kF16}), ElementType::kF16);
}

TEST_F(QuantisedModels, TypesThatNothingReadsAreNamed) {
    RandomDecoder decoder = small_decoder();
    testing::NamedTensor& matrix = decoder.tensors.at("model.layers.0.mlp.up_proj.weight");
    matrix.type = "IQ2_S";
    matrix.stored = std::string(static_cast<size_t>(matrix.shape[0]) * 82, 'x');
    testing::NamedTensor& norm = decoder.tensors.at("model.norm.weight");
    norm.type = "Q8_0";
    norm.stored = std::string(256 / 32 * 34, 'x');
    testing::write_gguf(decoder, folder_.path() / "model.gguf");
    const auto unsupported = inspect_model(folder_.path() / "model.gguf").checkpoint.findings.unsupported;
    EXPECT_EQ(unsupported.size(), 2u);
    EXPECT_THAT(unsupported, Contains(HasSubstr("1 tensors of type IQ2_S: expected F32, F16, BF16, Q8_0")));
    EXPECT_THAT(unsupported, Contains("1 tensors of type Q8_0: expected F32, F16, BF16"));
}

}  // namespace
}  // namespace tessera::import
