#include <fstream>
#include <functional>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/architecture/architectures.h"
#include "import/architecture/own_text.h"
#include "import/architecture/parse_architecture.h"
#include "import/hf/config.h"
#include "import/import_model.h"
#include "import/model_graph.h"
#include "import/resolve_model.h"
#include "import/run_model.h"
#include "ir/ops/decompose.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// The texts that are shipped, each by a model of small sizes, and what texts can say, by two spellings of one
// model.

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Sizes that fit together, by the names that the texts have for them.
const std::map<std::string, int64_t>& small_sizes() {
    static const std::map<std::string, int64_t> all = {
        {"layers", 2},       {"hidden", 32},        {"feed_forward", 24},   {"heads", 4},
        {"cache_heads", 2},  {"head_width", 8},     {"vocabulary", 19},     {"positions", 64},
        {"expert_count", 6}, {"experts_chosen", 2}, {"expert_width", 12},   {"shared_width", 12},
        {"shared_count", 1}, {"rotated", 4},        {"groups", 1},          {"kept_groups", 1},
        {"grown_from", 16},  {"shared_layers", 0},  {"stack", 1},           {"inner", 64},
        {"mixer_heads", 8},  {"mixer_width", 8},    {"attention_heads", 4}, {"source_heads", 4},
        {"target_heads", 4}};
    return all;
}

/// Puts a value at "a.b" of an object.
void put(json& config, const std::string& name, const json& value) {
    const size_t dot = name.find('.');
    if (dot == std::string::npos)
        config[name] = value;
    else
        put(config[name.substr(0, dot)], name.substr(dot + 1), value);
}

json small_config(const Architecture& architecture) {
    json config = {{"model_type", architecture.name}, {"dtype", "float32"}};
    for (const Setting& setting : architecture.settings) {
        const auto size = small_sizes().find(setting.name);
        if (size != small_sizes().end() && !setting.hf.names.empty())
            put(config, setting.hf.names.front(), size->second);
        // Latent attention has keys for each head.
        if (setting.name == "cache_heads" && architecture.setting("latent_width"))
            put(config, setting.hf.names.front(), small_sizes().at("heads"));
        if (setting.name == "growth" && !setting.hf.absent) put(config, setting.hf.names.front(), 0.1);
        if (setting.name == "has_prefix") put(config, setting.hf.names.front(), false);
        // Some texts want to be told these.
        if ((setting.name == "kind" && !setting.hf.absent) || setting.name == "kinds")
            config[setting.hf.names.front()] = {setting.choices.front(), setting.choices.back()};
        if (setting.name == "scaling")
            config["rope_parameters"] = {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 100.0}};
    }
    static const std::set<std::string> kTablesByKind = {"cohere_compass_text", "gemma4_text",
                                                        "gemma4_unified_text", "lfm3"};
    if (kTablesByKind.contains(architecture.name))
        for (const char* kind : {"full_attention", "sliding_attention"})
            config["rope_parameters"][kind] = {{"rope_type", "default"}, {"rope_theta", 100.0}};
    return config;
}

/// The graph of a model of these settings, of which nothing may be refused.
Graph graph_of(const json& settings, ops::WeightFormat format = ops::WeightFormat::kF32) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "config.json") << settings.dump();
    Findings findings;
    const auto config = read_hf_config((folder.path() / "config.json").string(), {}, findings);
    EXPECT_THAT(findings.unsupported, IsEmpty());
    EXPECT_THAT(findings.warnings, IsEmpty());
    return build_model(assume_model(config.value(), "small", format), {.context = 64, .max_tokens = 8});
}

TEST(Texts, EachIsAModelThatVerifies) {
    for (const auto& architecture : Architectures().all()) {
        if (architecture->classes.empty()) continue;
        SCOPED_TRACE(architecture->name);
        const Graph graph = graph_of(small_config(*architecture));
        verify(graph, architecture->name);
        verify(ops::decompose(graph), architecture->name);
    }
}

/// Rounded weights round what matrices read.
TEST(Texts, EachWithRoundedWeightsPrintsAndParsesBack) {
    for (const auto& architecture : Architectures().all()) {
        if (architecture->classes.empty()) continue;
        SCOPED_TRACE(architecture->name);
        const Graph graph = graph_of(small_config(*architecture), ops::WeightFormat::kBF16);
        const std::string printed = print(ops::decompose(graph));
        EXPECT_EQ(print(parse_graph(printed, architecture->name)), printed);
    }
}

/// Only Gemma does: the settings of its releases.
TEST(Texts, GemmaMeansAnotherFunctionThanItSays) {
    const auto graph_with = [](const char* name, const char* setting, const char* activation) {
        json config = small_config(*Architectures().find(name));
        config[setting] = activation;
        return print(graph_of(config));
    };
    EXPECT_EQ(graph_with("gemma", "hidden_act", "gelu"),
              graph_with("gemma", "hidden_act", "gelu_pytorch_tanh"));
    EXPECT_NE(graph_with("gemma", "hidden_act", "silu"),
              graph_with("gemma", "hidden_act", "gelu_pytorch_tanh"));
    EXPECT_NE(graph_with("gemma2", "hidden_activation", "gelu"),
              graph_with("gemma2", "hidden_activation", "gelu_pytorch_tanh"));
}

/// Rows of Q, K and V: one matrix in which heads take turns, beside three matrices.
TEST_F(OwnText, HeadsThatTakeTurnsAreThoseOfThreeMatrices) {
    add_outer();
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
        add(layer + "o.weight", {kHidden, kHidden});
        const std::vector<float> rows = add(layer + "qkv.weight", {3 * kHidden, kHidden});
        const std::vector<float> biases = add(layer + "qkv.bias", {3 * kHidden});
        for (size_t part = 0; part < 3; ++part) {
            const std::string name = layer + std::string(1, "qkv"[part]);
            testing::NamedTensor matrix{.shape = {kHidden, kHidden}, .values = {}};
            testing::NamedTensor bias{.shape = {kHidden}, .values = {}};
            for (size_t head = 0; head < kHeads; ++head)
                for (size_t row = 0; row < kWidth; ++row) {
                    const size_t from = (head * 3 + part) * kWidth + row;
                    bias.values.push_back(biases[from]);
                    for (size_t k = 0; k < kHidden; ++k) matrix.values.push_back(rows[from * kHidden + k]);
                }
            tensors_[name + ".weight"] = matrix;
            tensors_[name + ".bias"] = bias;
        }
    }
    const std::string values = R"(
  q = linear(x, q_weight); k = linear(x, k_weight); v = linear(x, v_weight)
  q_heads = shape(q, heads, head_width); k_heads = shape(k, heads, head_width); v_heads = shape(v, heads, head_width)
)" + attention();
    const std::string weights =
        "  weight q_weight [8, 8] bias true{}, k_weight [8, 8] bias true{}, v_weight [8, 8] bias true{}\n";
    const std::string fused =
        "  fused hf \"qkv\" of each heads: (q_weight head_width, k_weight head_width, v_weight head_width)\n";
    const auto without = [&](std::initializer_list<const char*> names) {
        for (const std::string layer : {"model.layers.0.", "model.layers.1."})
            for (const char* name : names)
                for (const char* end : {".weight", ".bias"}) tensors_.erase(layer + name + end);
    };
    const auto all = tensors_;
    without({"qkv"});
    const auto apart =
        logits(text_with(fmt::format(fmt::runtime(weights), " hf \"q\"", " hf \"k\"", " hf \"v\"") + values));
    tensors_ = all;
    without({"q", "k", "v"});
    const auto together = logits(text_with(fmt::format(fmt::runtime(weights), "", "", "") + fused + values));
    EXPECT_EQ(apart, together);
}

/// Expressions of elements and of indices, beside the functions that they spell.
TEST_F(OwnText, ExpressionsAreTheFunctionsThatTheySpell) {
    add_outer();
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
        add(layer + "n.weight", {kHidden});
        add(layer + "u.weight", {kHidden, kHidden});
    }
    const std::string weights =
        "  weight norm_weight [hidden] hf \"n\", up_weight [hidden, hidden] hf \"u\"\n";
    const auto by_functions = logits(text_with(weights + R"(
  normed = rms(x, norm_weight); up = linear(normed, up_weight)
  left, right = split(up, 3, 5)
  gated = silu(up)
  size[] = sum(left[i] * left[i])
  give = x + gated + size * right_sum
  right_sum[] = max(right[i])
)"));
    const auto by_elements = logits(text_with(weights + R"(
  squares[] = sum(x[d] * x[d])
  normed = x * rsqrt(squares / 8 + epsilon) * norm_weight
  up[n] = sum(normed[k] * up_weight[n, k])
  size[] = sum(select(i < 3, up[i] * up[i], 0))
  right_sum[] = max(select(i < 3, -inf, up[i]))
  gated[i] = up[i] * sigmoid(up[i])
  give[i] = x[i] + gated[i] + size * right_sum
)"));
    EXPECT_LT(testing::distance_of_range(by_elements, by_functions), 3e-6);
}

TEST_F(OwnText, WhatDoesNotFitNamesTheLine) {
    add_outer();
    for (const std::string layer : {"model.layers.0.", "model.layers.1."})
        add(layer + "u.weight", {6, kHidden});
    const auto problem = [&](const std::string& layer) -> std::string {
        try {
            (void)logits(text_with("  weight up_weight [6, hidden] hf \"u\"\n" + layer));
        } catch (const Error& error) {
            return error.what();
        }
        return "was accepted";
    };
    EXPECT_THAT(problem("  give = x + linear(x, up_weight)\n"),
                HasSubstr("own.arch:8: `give_linear`: has the shape [T, 6] where others have [T, 8]"));
    EXPECT_THAT(problem("  give = linear(linear(x, up_weight), up_weight)\n"),
                HasSubstr("which is no matrix with such rows"));
    EXPECT_THAT(problem("  up = linear(x, up_weight); give = x + shape(up, 4)\n"),
                HasSubstr("makes 4 numbers of 6"));
    EXPECT_THAT(problem("  give = attend(x, x, x) + linear(x, up_weight)\n"), HasSubstr("which is no cache"));
    EXPECT_THAT(problem("  give = x when layer == 0; give = x when layer < 2\n"),
                HasSubstr("assigned twice"));
    EXPECT_THAT(problem("  give = x when layer == 0\n"), HasSubstr("has no value for these settings"));
    EXPECT_THAT(problem("  a = b + x; b = a + x; give = b\n"), HasSubstr("depends on itself"));
    EXPECT_THAT(problem("  give[i] = x[i + j]\n"), HasSubstr("`j`: is declared nowhere"));
}

TEST_F(OwnText, VerdictsAreSaidTogether) {
    add_outer();
    const std::string text =
        text_with("  give = x + x\n", R"(set clip real from 0 to 9 hf "clip" = 0, mode text hf "mode" = "a"
refuse clip when clip > 0 "limits of values"
refuse mode when mode != "a" "another mode than {mode} and {clip}"
)");
    write(text);
    testing::write_file(folder_.path() / "config.json", R"({"model_type": "own", "clip": 2, "mode": "b"})");
    EXPECT_THAT(inspect_model(folder_.path(), known()).checkpoint.findings.unsupported,
                ElementsAre("clip = 2: limits of values", "mode = \"b\": another mode than \"b\" and 2"));
}

}  // namespace
}  // namespace tessera::import
