#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/checkpoint.h"
#include "import/gguf_builder.h"
#include "import/hf/config.h"
#include "import/models/architecture.h"
#include "import/random_checkpoint.h"
#include "support/temporary_folder.h"

// Default settings of models, against an independent source: defaults/make.py asks the classes of
// transformers.

namespace tessera::import {
namespace {

using nlohmann::json;

json facts_of(const std::string& file) {
    const std::string path = std::string(TESSERA_SOURCE_DIR) + "/tests/import/defaults/" + file;
    return json::parse(std::ifstream(path)).at("classes");
}

const std::map<std::string, ops::ActivationFunction>& activations() {
    using enum ops::ActivationFunction;
    static const std::map<std::string, ops::ActivationFunction> all = {
        {"silu", kSilu}, {"relu", kRelu}, {"gelu_new", kGeluTanh}, {"gelu_pytorch_tanh", kGeluTanh}};
    return all;
}

class DefaultSettingsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(DefaultSettingsOf, FoldersAreThoseOfTheClasses) {
    const json all = facts_of(GetParam());
    EXPECT_EQ(all.size(), architectures().size());
    for (const auto& [kind, facts] : all.items()) {
        SCOPED_TRACE(kind);
        const TemporaryFolder folder;
        testing::write_file(folder.path() / "config.json", json({{"model_type", kind}}).dump());
        Findings findings;
        const auto config = read_hf_config((folder.path() / "config.json").string(), findings);
        ASSERT_TRUE(config);
        EXPECT_THAT(findings.unsupported, ::testing::IsEmpty());
        EXPECT_THAT(findings.warnings, ::testing::IsEmpty());
        const DecoderSize& size = config->size;
        EXPECT_EQ(size.vocabulary, facts.at("vocabulary"));
        EXPECT_EQ(size.hidden, facts.at("hidden"));
        EXPECT_EQ(size.feed_forward, facts.at("feed_forward"));
        EXPECT_EQ(size.layers, facts.at("layers"));
        EXPECT_EQ(size.heads, facts.at("heads"));
        EXPECT_EQ(size.cache_heads, facts.at("cache_heads"));
        EXPECT_EQ(size.head_width, facts.at("head_width"));
        EXPECT_EQ(size.experts, facts.at("experts"));
        EXPECT_EQ(size.experts_chosen, facts.at("experts_chosen"));
        EXPECT_EQ(size.expert_width, facts.at("expert_width"));
        EXPECT_EQ(config->max_positions, facts.at("positions"));
        EXPECT_EQ(config->epsilon, facts.at("epsilon"));
        EXPECT_EQ(config->is_tied, facts.at("is_tied").get<bool>());
        const DecoderForm& form = config->form;
        EXPECT_EQ(form.activation, activations().at(facts.at("activation")));
        EXPECT_EQ(form.attention_scale,
                  facts.at("attention_scale").is_null() ? 0 : facts.at("attention_scale").get<double>());
        EXPECT_EQ(form.attention_cap, facts.at("attention_cap"));
        EXPECT_EQ(form.logits_cap, facts.at("logits_cap"));
        EXPECT_EQ(form.window, facts.at("window"));
        if (size.experts > 0) {
            EXPECT_EQ(form.shares_of_chosen, facts.at("shares_of_chosen").get<bool>());
        }
        for (size_t i = 0; i < form.layers.size(); ++i) {
            EXPECT_EQ(form.layers[i].is_windowed, facts.at("windowed")[i].get<bool>());
            const bool is_rotated = !facts.at("rope_base").is_null() &&
                                    (facts.at("rotated").is_null() || facts["rotated"][i] == 1);
            EXPECT_EQ(form.layers[i].rope != LayerRope::kNone, is_rotated);
        }
        if (!facts.at("rope_base").is_null()) {
            EXPECT_EQ(config->rope.base, facts.at("rope_base"));
        }
        if (!facts.at("local_rope_base").is_null()) {
            EXPECT_EQ(config->local_rope.base, facts.at("local_rope_base"));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Versions, DefaultSettingsOf,
                         ::testing::Values("transformers-4.57.1.json", "transformers-5.24.0.json"),
                         [](const auto& version) { return version.index == 0 ? "Four" : "Five"; });

TEST(DefaultSettings, GgufFilesAreThoseOfLlamaCpp) {
    const json all = facts_of("llama.cpp.json");
    for (const auto& [kind, facts] : all.items()) {
        SCOPED_TRACE(kind);
        const Architecture& architecture = *find_architecture(kind);
        const std::string name(architecture.gguf_name.empty() ? architecture.name : architecture.gguf_name);
        test::GgufBuilder builder;
        builder.string("general.architecture", name).u32(name + ".block_count", 12);
        builder.u32(name + ".context_length", 64).u32(name + ".embedding_length", 8);
        builder.u32(name + ".feed_forward_length", 8).u32(name + ".attention.head_count", 2);
        builder.f32(name + ".attention.layer_norm_rms_epsilon", 1e-6F);
        if (kind == "qwen3_moe") builder.u32(name + ".expert_count", 4).u32(name + ".expert_used_count", 2);
        builder.tensor("token_embd.weight", {8, 23}, 0, 0).data(std::string(8 * 23 * 4, '\0'));
        const TemporaryFolder folder;
        testing::write_file(folder.path() / "model.gguf", builder.build());
        const auto config = open_checkpoint(folder.path() / "model.gguf").config;
        ASSERT_TRUE(config);
        EXPECT_EQ(config->size.cache_heads, 2);
        EXPECT_EQ(config->size.head_width, 4);
        EXPECT_EQ(config->rope.base, facts.at("rope_base"));
        EXPECT_EQ(config->form.window, facts.at("window"));
        EXPECT_EQ(config->form.attention_cap, facts.at("attention_cap"));
        EXPECT_EQ(config->form.logits_cap, facts.at("logits_cap"));
        if (!facts.at("local_rope_base").is_null()) {
            EXPECT_EQ(config->local_rope.base, facts.at("local_rope_base"));
        }
        for (size_t i = 0; i < config->form.layers.size(); ++i) {
            const bool is_windowed =
                facts.at("window") > 0 && (i + 1) % facts.at("period").get<size_t>() != 0;
            EXPECT_EQ(config->form.layers[i].is_windowed, is_windowed);
        }
    }
}

}  // namespace
}  // namespace tessera::import
