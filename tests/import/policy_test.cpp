#include "import/policy.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "ir/half.h"
#include "ir/ops/decompose.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// Checkpoints of 16 bits: the rounding under each policy, and the distance of the logits from those of plain
// loops in float64 on the weights as they are stored.

namespace tessera::import {
namespace {

using ops::WeightFormat;
using testing::RandomDecoder;

/// The pattern of a value that F16 or BF16 holds.
uint16_t pattern_of(double value, const std::string& type) {
    const auto single = static_cast<float>(value);
    if (type == "F16") return half_pattern(single);
    uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof(bits));
    return static_cast<uint16_t>(bits >> 16);
}

/// Stores a tensor in 16 bits; its values become the stored ones.
void store(testing::NamedTensor& tensor, const std::string& type) {
    const ElementType element = type == "F16" ? ElementType::kF16 : ElementType::kBF16;
    tensor.type = type;
    tensor.stored.clear();
    for (float& value : tensor.values) {
        value = static_cast<float>(round_to(element, value));
        const uint16_t pattern = pattern_of(value, type);
        tensor.stored.append(reinterpret_cast<const char*>(&pattern), sizeof(pattern));
    }
}

class Policies : public ::testing::TestWithParam<std::string> {
protected:
    static constexpr int64_t kTokens = 12;

    Policies() {
        decoder_.fill(4);
        for (auto& [name, tensor] : decoder_.tensors) store(tensor, GetParam());
        testing::write_hugging_face(decoder_, folder_.path());
    }

    ImportedModel imported(const ImportOptions& options) const {
        return import_model(folder_.path(), options);
    }
    double distance(const ImportOptions& options) const {
        std::vector<int64_t> tokens;
        for (int64_t i = 0; i < kTokens; ++i) tokens.push_back((i * 5 + 3) % decoder_.vocabulary);
        const ImportedModel model = imported(options);
        const std::vector<double> found = testing::InterpretedSession(model, 32).step(tokens);
        return testing::distance_of_range(found, testing::naive_logits(decoder_, tokens));
    }
    static ElementType element(const Graph& graph, const std::string& value) {
        return graph[graph.find(value).value()].type.element;
    }
    ElementType own_type() const { return *element_type_of(GetParam() == "F16" ? "f16" : "bf16"); }

    RandomDecoder decoder_;
    TemporaryFolder folder_;
};

TEST_P(Policies, ExactKeepsActivationsAndCacheInF32) {
    const Graph graph = ops::decompose(imported({.policy = Policy::kExact}).graph);
    verify(graph, "exact");
    for (const Value& value : graph.values) {
        const bool is_made = value.kind == ValueKind::kIntermediate || value.kind == ValueKind::kState;
        EXPECT_TRUE(!is_made || value.type.element == ElementType::kF32) << value.name;
    }
    EXPECT_EQ(element(graph, "layer_q_weight"), own_type());
    EXPECT_LT(distance({.policy = Policy::kExact}), 3e-6);
}

TEST_P(Policies, DefaultRoundsWhatOnlyProductsRead) {
    const Graph imported_graph = imported({}).graph;
    verify(imported_graph, "default");
    const Graph graph = ops::decompose(imported_graph);
    verify(graph, "default, decomposed");
    EXPECT_EQ(print(parse_graph(print(graph), "printed")), print(graph));
    for (const char* rounded : {"layer_attention_normed", "layer_attention", "layer_attended",
                                "layer_feed_forward_normed", "layer_swiglu", "final_normed"})
        EXPECT_EQ(element(graph, rounded), own_type()) << rounded;
    for (const char* exact : {"embedded", "layer_attention_residual", "layer_feed_forward_residual",
                              "layer_q", "layer_q_rotated", "layer_gate", "layer_attention_scores", "logits"})
        EXPECT_EQ(element(graph, exact), ElementType::kF32) << exact;
    EXPECT_EQ(element(graph, "layer_k_cache"), own_type());
    const bool has_pairs = own_type() == ElementType::kBF16;
    EXPECT_EQ(element(graph, "layer_attention_gather"), has_pairs ? ElementType::kBF16 : ElementType::kF32);
    const double found = distance({});
    EXPECT_LT(found, GetParam() == "F16" ? 2e-3 : 1e-2);
    EXPECT_GT(found, 3e-6) << "nothing was rounded";
}

TEST_P(Policies, CacheIsAChoiceOfItsOwn) {
    const Graph graph = ops::decompose(imported({.cache = WeightFormat::kF32}).graph);
    EXPECT_EQ(element(graph, "layer_v_cache"), ElementType::kF32);
    EXPECT_EQ(element(graph, "layer_swiglu"), own_type());
    const Graph exact =
        ops::decompose(imported({.policy = Policy::kExact, .cache = WeightFormat::kF16}).graph);
    verify(exact, "exact");
    EXPECT_EQ(element(exact, "layer_v_cache"), ElementType::kF16);
    EXPECT_EQ(element(exact, "layer_swiglu"), ElementType::kF32);
    const Graph pairs =
        ops::decompose(imported({.policy = Policy::kExact, .cache = WeightFormat::kBF16}).graph);
    verify(pairs, "exact");
    EXPECT_EQ(element(pairs, "layer_attention_gather"), ElementType::kF32);
}

// An activation that several matrices read is rounded only if all of them are of one type.
TEST_P(Policies, MixedReadersKeepF32) {
    testing::NamedTensor& up = decoder_.tensors.at("model.layers.0.mlp.up_proj.weight");
    up.type = "F32";
    up.stored.clear();
    testing::write_hugging_face(decoder_, folder_.path());
    const Graph graph = imported({}).graph;
    EXPECT_EQ(element(graph, "layer_1_feed_forward_normed"), ElementType::kF32);
    EXPECT_EQ(element(graph, "layer_2_feed_forward_normed"), own_type());
    EXPECT_EQ(element(graph, "layer_1_swiglu"), own_type());
}

INSTANTIATE_TEST_SUITE_P(Types, Policies, ::testing::Values("F16", "BF16"));

TEST(Policy, F32ModelsAreTheSameUnderBoth) {
    RandomDecoder decoder;
    decoder.fill(2);
    TemporaryFolder folder;
    testing::write_hugging_face(decoder, folder.path());
    EXPECT_EQ(print(import_model(folder.path(), {.policy = Policy::kExact}).graph),
              print(import_model(folder.path()).graph));
}

TEST(Policy, NamesReadBack) {
    for (const Policy policy : {Policy::kDefault, Policy::kExact, Policy::kFast})
        EXPECT_EQ(policy_of(name(policy)), policy);
    EXPECT_EQ(policy_of("quick"), std::nullopt);
}

TEST(Policy, ActivationsFollowTheirReaders) {
    using enum WeightFormat;
    const auto of = [](std::vector<WeightFormat> readers) {
        return activation_of(Policy::kDefault, readers, 1024);
    };
    EXPECT_EQ(of({kF32, kF32}), ops::Activation{});
    EXPECT_EQ(of({kBF16, kBF16}), ops::Activation{ElementType::kBF16});
    EXPECT_EQ(of({kBF16, kF16}), ops::Activation{});
    EXPECT_EQ(of({kQ8_0}), ops::kInt15Blocks);
    EXPECT_EQ(activation_of(Policy::kDefault, std::vector{kQ8_0}, 96).block, 32);
    EXPECT_EQ(of({kQ4_K, kQ4_K, kQ6_K}), ops::kInt13Blocks);
    EXPECT_EQ(of({kQ4_K, kQ5_0}), ops::kInt15Blocks);
    EXPECT_EQ(of({kQ4_K, kF32}), ops::Activation{});
    EXPECT_EQ(activation_of(Policy::kExact, std::vector{kQ4_K}, 1024), ops::Activation{});
    EXPECT_EQ(activation_of(Policy::kFast, std::vector{kQ4_K}, 1024), ops::kInt8Blocks);
    EXPECT_EQ(activation_of(Policy::kFast, std::vector{kBF16}, 1024), ops::Activation{ElementType::kBF16});
}

TEST(Policy, CacheHasTheTypeOfTheWeightsThatMakeIt) {
    using enum WeightFormat;
    const auto of = [](std::vector<WeightFormat> makers) { return cache_type(Policy::kDefault, makers); };
    EXPECT_EQ(of({kF32, kF32}), kF32);
    EXPECT_EQ(of({kBF16, kBF16}), kBF16);
    EXPECT_EQ(of({kBF16, kF32}), kF32);
    EXPECT_EQ(of({kQ4_K, kF32}), kBF16);
    EXPECT_EQ(of({kQ4_K, kQ6_K}), kBF16);
    EXPECT_EQ(cache_type(Policy::kExact, std::vector{kBF16}), kF32);
    EXPECT_EQ(cache_type_of("q8_0"), kQ8_0);
    EXPECT_EQ(cache_type_of("f16"), kF16);
    EXPECT_EQ(cache_type_of("i8"), std::nullopt);
    EXPECT_EQ(cache_type_of("q4_0"), std::nullopt);
}

}  // namespace
}  // namespace tessera::import
