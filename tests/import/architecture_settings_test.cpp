#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/hf/config.h"
#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// Settings of single architectures, also as older versions of transformers wrote them.

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct VariantSettings {
    std::optional<DecoderConfig> config;
    Findings findings;
};

/// A settings object of tests/import/expected without these fields, then with others.
VariantSettings settings_of(const std::string& variant, const std::vector<std::string>& without,
                            const json& with = {}) {
    const std::string file = TESSERA_SOURCE_DIR "/tests/import/expected/" + variant + ".json";
    json config = json::parse(std::ifstream(file)).at("config");
    for (const std::string& field : without) config.erase(field);
    if (!with.is_null()) config.update(with);
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", config.dump());
    VariantSettings result;
    result.config = read_hf_config((folder.path() / "config.json").string(), result.findings);
    return result;
}

std::string error_with(const std::string& variant, const json& with) {
    try {
        (void)settings_of(variant, {}, with);
    } catch (const Error& error) {
        return error.what();
    }
    return "was accepted";
}

std::vector<bool> windowed_layers(const DecoderConfig& config) {
    std::vector<bool> all;
    for (const LayerKind& layer : config.form.layers) all.push_back(layer.is_windowed);
    return all;
}

TEST(Gemma3Settings, OldNamesMeanTheSame) {
    const VariantSettings now = settings_of("gemma3", {});
    const VariantSettings old =
        settings_of("gemma3", {"rope_parameters", "layer_types", "_sliding_window_pattern"},
                    {{"rope_theta", 1000.0},
                     {"rope_local_base_freq", 50.0},
                     {"rope_scaling", {{"rope_type", "linear"}, {"factor", 4.0}}},
                     {"sliding_window_pattern", 6}});
    EXPECT_THAT(old.findings.unsupported, IsEmpty());
    EXPECT_EQ(old.config->rope, now.config->rope);
    EXPECT_EQ(old.config->local_rope, now.config->local_rope);
    EXPECT_EQ(old.config->form.layers, now.config->form.layers);
    EXPECT_THAT(windowed_layers(*old.config), ElementsAre(true, true, true, true, true, false, true));
    EXPECT_EQ(old.config->form.layers[5].rope, LayerRope::kGlobal);
    EXPECT_EQ(old.config->form.layers[6].rope, LayerRope::kLocal);
}

TEST(Gemma3Settings, BasesThatNobodyStatesAreTheDefaults) {
    const VariantSettings found = settings_of("gemma3", {"rope_parameters"});
    EXPECT_EQ(found.config->rope.base, 1e6);
    EXPECT_EQ(found.config->local_rope.base, 1e4);
}

TEST(Gemma2Settings, NullSwitchesACapOffAndAbsenceDoesNot) {
    const VariantSettings absent =
        settings_of("gemma2", {"attn_logit_softcapping", "final_logit_softcapping"});
    EXPECT_EQ(absent.config->form.attention_cap, 50);
    EXPECT_EQ(absent.config->form.logits_cap, 30);
    const VariantSettings null = settings_of("gemma2", {}, {{"final_logit_softcapping", nullptr}});
    EXPECT_EQ(null.config->form.logits_cap, 0);
    EXPECT_EQ(null.config->form.attention_cap, 4);
    EXPECT_THAT(windowed_layers(*settings_of("gemma2", {"layer_types"}).config),
                ElementsAre(true, false, true));
}

TEST(Gemma2Settings, LayerTypesThatNobodyKnowsAreRefused) {
    const json types = {"sliding_attention", "chunked_attention", "full_attention"};
    EXPECT_THAT(settings_of("gemma2", {}, {{"layer_types", types}}).findings.unsupported,
                ElementsAre(HasSubstr("known are full_attention and sliding_attention")));
    EXPECT_THAT(settings_of("gemma2", {}, {{"layer_types", {"full_attention"}}}).findings.unsupported,
                ElementsAre(HasSubstr("expected one for each of 3 layers")));
    EXPECT_THAT(settings_of("gemma2", {}, {{"use_bidirectional_attention", true}}).findings.unsupported,
                ElementsAre(HasSubstr("not causal")));
}

TEST(MistralSettings, NullMeansNoWindowAndAbsenceTheDefault) {
    EXPECT_EQ(settings_of("mistral_window", {}).config->form.window, 5);
    EXPECT_EQ(settings_of("mistral_window", {"sliding_window"}).config->form.window, 4096);
    const VariantSettings null = settings_of("mistral_window", {}, {{"sliding_window", nullptr}});
    EXPECT_EQ(null.config->form.window, 0);
    EXPECT_THAT(windowed_layers(*null.config), ElementsAre(false, false));
}

TEST(Phi3Settings, LongRopeHasSeveralNames) {
    const json factors = {{"short_factor", {1.0, 1.25, 1.5}}, {"long_factor", {1.5, 3.0, 7.0}}};
    const RopeConfig now = settings_of("phi3_long", {}).config->rope;
    EXPECT_EQ(now.scaling, RopeConfig::Scaling::kLongRope);
    EXPECT_THAT(now.amplitude, DoubleEq(std::sqrt(2.0))) << "sqrt(1 + log(8) / log(8))";
    for (const char* type : {"su", "longrope", "yarn"}) {
        json scaling = factors;
        scaling["type"] = type;
        const VariantSettings old =
            settings_of("phi3_long", {"rope_parameters"}, {{"rope_theta", 100.0}, {"rope_scaling", scaling}});
        EXPECT_THAT(old.findings.unsupported, IsEmpty()) << type;
        EXPECT_EQ(old.config->rope, now) << type;
    }
}

TEST(Phi3Settings, FactorsAreOneForEachPair) {
    const json scaling = {
        {"type", "longrope"}, {"short_factor", {1.0, 1.0}}, {"long_factor", {1.0, 1.0, 1.0}}};
    EXPECT_THAT(error_with("phi3_long", {{"rope_parameters", nullptr}, {"rope_scaling", scaling}}),
                HasSubstr("has 2 factors, expected one for each of 3 pairs"));
    EXPECT_EQ(settings_of("phi3_window", {"rope_parameters"}, {{"partial_rotary_factor", 0.75}})
                  .config->rope.rotated,
              4);
    EXPECT_THAT(settings_of("llama_gelu", {}, {{"partial_rotary_factor", 0.75}}).findings.unsupported,
                ElementsAre(HasSubstr("rotation of a part of each head")));
}

TEST(YarnSettings, TheAmplitudeFollowsFromTheScales) {
    const json yarn = {
        {"rope_type", "yarn"}, {"factor", 4.0},         {"original_max_position_embeddings", 16},
        {"mscale", 1.0},       {"mscale_all_dim", 0.5}, {"rope_theta", 100.0}};
    const double log = std::log(4.0);
    EXPECT_THAT(settings_of("qwen3_yarn", {}, {{"rope_parameters", yarn}}).config->rope.amplitude,
                DoubleEq((1 + 0.1 * log) / (1 + 0.05 * log)));
    json invented = yarn;
    invented["beta_medium"] = 2;
    EXPECT_THAT(settings_of("qwen3_yarn", {}, {{"rope_parameters", invented}}).findings.unsupported,
                Contains(HasSubstr("rope_parameters.beta_medium")));
}

TEST(SmolLm3Settings, LayersWithoutPositionsComeFromTheListOrTheInterval) {
    const auto rotated = [](const DecoderConfig& config) {
        std::vector<bool> all;
        for (const LayerKind& layer : config.form.layers) all.push_back(layer.rope == LayerRope::kGlobal);
        return all;
    };
    EXPECT_THAT(rotated(*settings_of("smollm3", {"no_rope_layers"}, {{"no_rope_layer_interval", 2}}).config),
                ElementsAre(true, false, true, false, true));
    EXPECT_THAT(rotated(*settings_of("smollm3", {}, {{"no_rope_layers", {0, 1, 1, 1, 0}}}).config),
                ElementsAre(false, true, true, true, false));
    EXPECT_THAT(settings_of("smollm3", {}, {{"no_rope_layers", {0, 1}}}).findings.unsupported,
                ElementsAre(HasSubstr("expected one for each of 5 layers")));
    EXPECT_THAT(settings_of("smollm3", {}, {{"use_sliding_window", true}}).findings.unsupported,
                ElementsAre(HasSubstr("sliding window")));
}

TEST(OptSettings, WhatEveryOptHasIsAccountedFor) {
    const VariantSettings found = settings_of(
        "opt", {}, {{"activation_dropout", 0.1}, {"prefix", "</s>"}, {"init_std", 0.02}, {"layerdrop", 0.1}});
    EXPECT_THAT(found.findings.unsupported, IsEmpty());
    EXPECT_THAT(found.findings.warnings, IsEmpty());
}

TEST(OptSettings, OtherLayoutsAreNamedAtOnce) {
    const VariantSettings found = settings_of("opt", {},
                                              {{"word_embed_proj_dim", 7},
                                               {"do_layer_norm_before", false},
                                               {"enable_bias", false},
                                               {"layer_norm_elementwise_affine", false},
                                               {"_remove_final_layer_norm", true}});
    EXPECT_EQ(found.findings.unsupported.size(), 5u);
    for (const char* setting : {"word_embed_proj_dim = 7", "do_layer_norm_before", "enable_bias",
                                "layer_norm_elementwise_affine", "_remove_final_layer_norm"})
        EXPECT_THAT(found.findings.unsupported, Contains(HasSubstr(setting)));
}

TEST(Gpt2Settings, ScoresMayBeUnscaled) {
    EXPECT_EQ(settings_of("gpt2", {}, {{"scale_attn_weights", false}}).config->form.attention_scale, 1);
    EXPECT_EQ(settings_of("gpt2", {}, {{"n_inner", 13}}).config->size.feed_forward, 13);
    EXPECT_THAT(settings_of("gpt2", {}, {{"scale_attn_by_inverse_layer_idx", true}}).findings.unsupported,
                ElementsAre(HasSubstr("for each layer")));
}

TEST(ActivationSettings, UnknownOnesAreRefusedByName) {
    EXPECT_THAT(settings_of("llama_gelu", {}, {{"hidden_act", "quick_gelu"}}).findings.unsupported,
                ElementsAre(HasSubstr("hidden_act = \"quick_gelu\"")));
    EXPECT_EQ(settings_of("llama_gelu", {}, {{"hidden_act", "relu"}}).config->form.activation,
              ops::ActivationFunction::kRelu);
}

}  // namespace
}  // namespace tessera::import
