#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/architecture/part.h"
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
using ::testing::Not;

struct VariantSettings {
    std::optional<ModelConfig> config;
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
    result.config = read_hf_config((folder.path() / "config.json").string(), {}, result.findings);
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

/// The option of each layer's attention; 0 where it has none.
std::vector<double> options_of(const ModelConfig& config, const char* option) {
    std::vector<double> all;
    for (const Part& layer : parts_of(config).layers)
        for (const PartStep& step : layer.steps) {
            if (!step.is_call("attend")) continue;
            const TermPtr value = step.term->option(option);
            all.push_back(value && value->kind == Term::Kind::kNumber ? value->number : 0);
        }
    return all;
}

std::vector<bool> windowed_layers(const ModelConfig& config) {
    std::vector<bool> all;
    for (const double window : options_of(config, "window")) all.push_back(window > 0);
    return all;
}

/// The rotary tables of each layer; empty where it has none.
std::vector<std::string> rotated_layers(const ModelConfig& config) {
    std::vector<std::string> all;
    for (const Part& layer : parts_of(config).layers) {
        all.emplace_back();
        for (const PartStep& step : layer.steps)
            if (step.is_call("rotate")) all.back() = step.term->arguments[1]->name;
    }
    return all;
}

/// As {"model_type": ..} with these fields: all others have the defaults of the class.
ModelConfig defaults_with(const char* model_type, const json& with) {
    json config = {{"model_type", model_type}};
    config.update(with);
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", config.dump());
    Findings findings;
    return *read_hf_config((folder.path() / "config.json").string(), {}, findings);
}

/// A number of 0 is none where a class reads it so, and refused where the class divides by it or sees
/// nothing.
TEST(ArchitectureSettings, AZeroIsNoneOnlyWhereTheClassSaysSo) {
    EXPECT_THAT(error_with("mistral_window", {{"sliding_window", 0}}), HasSubstr("from 1"));
    EXPECT_THAT(error_with("gemma2", {{"attn_logit_softcapping", 0.0}}), HasSubstr("expected a number from"));
    EXPECT_THAT(error_with("gemma2", {{"final_logit_softcapping", 0}}), HasSubstr("expected a number from"));
    EXPECT_EQ(error_with("gemma2", {{"attn_logit_softcapping", nullptr}}), "was accepted");
    const auto is_clipped = [](const char* model_type, const json& limit) {
        const Part layer = parts_of(defaults_with(model_type, {{"clip_qkv", limit}})).layers.front();
        return std::ranges::any_of(layer.steps, [](const PartStep& step) {
            return step.name() == "v_clipped" && step.is_call("max");
        });
    };
    for (const char* model_type : {"olmo", "olmoe"}) {
        EXPECT_TRUE(is_clipped(model_type, 0)) << model_type;
        EXPECT_TRUE(is_clipped(model_type, 8.0)) << model_type;
        EXPECT_FALSE(is_clipped(model_type, nullptr)) << model_type;
    }
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
    EXPECT_EQ(old.config->ropes, now.config->ropes);
    EXPECT_EQ(options_of(*old.config, "window"), options_of(*now.config, "window"));
    EXPECT_THAT(windowed_layers(*old.config), ElementsAre(true, true, true, true, true, false, true));
    EXPECT_EQ(rotated_layers(*old.config)[5], "rope");
    EXPECT_EQ(rotated_layers(*old.config)[6], "local_rope");
}

TEST(Gemma3Settings, BasesThatNobodyStatesAreTheDefaults) {
    const VariantSettings found = settings_of("gemma3", {"rope_parameters"});
    EXPECT_EQ(found.config->ropes.at("rope").config.base, 1e6);
    EXPECT_EQ(found.config->ropes.at("local_rope").config.base, 1e4);
}

/// The columns of packed matrices cannot become rows.
TEST(DeepseekSettings, PackedWeightsAreNotAbsorbed) {
    const auto is_absorbed = [](const json& with) {
        return truth_of(*settings_of("deepseek_v3", {}, with).config->scope()("is_absorbed"), "is_absorbed");
    };
    EXPECT_TRUE(is_absorbed({}));
    const json packing = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}};
    EXPECT_FALSE(is_absorbed({{"quantization_config", packing}}));
}
TEST(Gemma3Settings, ANullInThePlaceOfABaseIsRefused) {
    const json parameters = {{"full_attention", {{"rope_theta", 1e3}}}, {"sliding_attention", nullptr}};
    EXPECT_THAT(settings_of("gemma3", {}, {{"rope_parameters", parameters}}).findings.unsupported,
                Contains(HasSubstr("without rotation")));
}
TEST(Gemma2Settings, NullSwitchesACapOffAndAbsenceDoesNot) {
    const VariantSettings absent =
        settings_of("gemma2", {"attn_logit_softcapping", "final_logit_softcapping"});
    EXPECT_EQ(absent.config->real("attention_cap"), 50);
    EXPECT_EQ(absent.config->real("logits_cap"), 30);
    const VariantSettings null = settings_of("gemma2", {}, {{"final_logit_softcapping", nullptr}});
    EXPECT_EQ(null.config->real("logits_cap"), 0);
    EXPECT_EQ(null.config->real("attention_cap"), 4);
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
    EXPECT_EQ(settings_of("mistral_window", {}).config->integer("window"), 5);
    EXPECT_EQ(settings_of("mistral_window", {"sliding_window"}).config->integer("window"), 4096);
    const VariantSettings null = settings_of("mistral_window", {}, {{"sliding_window", nullptr}});
    EXPECT_EQ(null.config->integer("window"), 0);
    EXPECT_THAT(windowed_layers(*null.config), ElementsAre(false, false));
}

TEST(Phi3Settings, LongRopeHasSeveralNames) {
    const json factors = {{"short_factor", {1.0, 1.25, 1.5}}, {"long_factor", {1.5, 3.0, 7.0}}};
    const RopeConfig now = settings_of("phi3_long", {}).config->ropes.at("rope").config;
    EXPECT_EQ(now.scaling, RopeConfig::Scaling::kLongRope);
    EXPECT_THAT(now.amplitude, DoubleEq(std::sqrt(2.0))) << "sqrt(1 + log(8) / log(8))";
    for (const char* type : {"su", "longrope", "yarn"}) {
        json scaling = factors;
        scaling["type"] = type;
        const VariantSettings old =
            settings_of("phi3_long", {"rope_parameters"}, {{"rope_theta", 100.0}, {"rope_scaling", scaling}});
        EXPECT_THAT(old.findings.unsupported, IsEmpty()) << type;
        EXPECT_EQ(old.config->ropes.at("rope").config, now) << type;
    }
}

TEST(Phi3Settings, FactorsAreOneForEachPair) {
    const json scaling = {
        {"type", "longrope"}, {"short_factor", {1.0, 1.0}}, {"long_factor", {1.0, 1.0, 1.0}}};
    EXPECT_THAT(error_with("phi3_long", {{"rope_parameters", nullptr}, {"rope_scaling", scaling}}),
                HasSubstr("has 2 factors, expected one for each of 3 pairs"));
    EXPECT_EQ(settings_of("phi3_window", {"rope_parameters"}, {{"partial_rotary_factor", 0.75}})
                  .config->ropes.at("rope")
                  .config.rotated,
              4);
    EXPECT_THAT(settings_of("llama_gelu", {}, {{"partial_rotary_factor", 0.75}}).findings.unsupported,
                ElementsAre(HasSubstr("rotation of a part of each head")));
}

TEST(YarnSettings, TheAmplitudeFollowsFromTheScales) {
    const json yarn = {
        {"rope_type", "yarn"}, {"factor", 4.0},         {"original_max_position_embeddings", 16},
        {"mscale", 1.0},       {"mscale_all_dim", 0.5}, {"rope_theta", 100.0}};
    const double log = std::log(4.0);
    EXPECT_THAT(
        settings_of("qwen3_yarn", {}, {{"rope_parameters", yarn}}).config->ropes.at("rope").config.amplitude,
        DoubleEq((1 + 0.1 * log) / (1 + 0.05 * log)));
    json invented = yarn;
    invented["beta_medium"] = 2;
    EXPECT_THAT(settings_of("qwen3_yarn", {}, {{"rope_parameters", invented}}).findings.unsupported,
                Contains(HasSubstr("rope_parameters.beta_medium")));
}

TEST(SmolLm3Settings, LayersWithoutPositionsComeFromTheListOrTheInterval) {
    const auto rotated = [](const ModelConfig& config) {
        std::vector<bool> all;
        for (const std::string& rope : rotated_layers(config)) all.push_back(!rope.empty());
        return all;
    };
    EXPECT_THAT(rotated(*settings_of("smollm3", {"no_rope_layers"}, {{"no_rope_layer_interval", 2}}).config),
                ElementsAre(true, false, true, false, true));
    EXPECT_THAT(rotated(*settings_of("smollm3", {}, {{"no_rope_layers", {0, 1, 1, 1, 0}}}).config),
                ElementsAre(false, true, true, true, false));
    EXPECT_THAT(settings_of("smollm3", {}, {{"no_rope_layers", {0, 1}}}).findings.unsupported,
                ElementsAre(HasSubstr("expected one for each of 5 layers")));
    const json windows = {
        {"use_sliding_window", true}, {"sliding_window", 7}, {"no_rope_layers", {0, 1, 1, 1, 0}}};
    EXPECT_THAT(options_of(*settings_of("smollm3", {"layer_types"}, windows).config, "window"),
                ElementsAre(7, 0, 0, 0, 7))
        << "the layers without positions";
    const json kinds = {
        {"use_sliding_window", false},
        {"sliding_window", 7},
        {"layer_types",
         {"full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention"}}};
    EXPECT_THAT(options_of(*settings_of("smollm3", {}, kinds).config, "window"), ElementsAre(0, 7, 0, 7, 0))
        << "the mask follows the list";
}

TEST(OptSettings, WhatEveryOptHasIsAccountedFor) {
    const VariantSettings found = settings_of(
        "opt", {}, {{"activation_dropout", 0.1}, {"prefix", "</s>"}, {"init_std", 0.02}, {"layerdrop", 0.1}});
    EXPECT_THAT(found.findings.unsupported, IsEmpty());
    EXPECT_THAT(found.findings.warnings, IsEmpty());
}

TEST(GptNeoxSettings, NamesThatTheClassDoesNotReadMustAgree) {
    const auto findings = [](const char* name, double value) {
        const TemporaryFolder folder;
        json config = {{"model_type", "gpt_neox"}, {"rotary_emb_base", 500}, {"rotary_pct", 0.5}};
        config[name] = value;
        testing::write_file(folder.path() / "config.json", config.dump());
        Findings found;
        (void)read_hf_config((folder.path() / "config.json").string(), {}, found);
        return found.unsupported;
    };
    EXPECT_THAT(findings("rope_theta", 500), IsEmpty());
    EXPECT_THAT(findings("partial_rotary_factor", 0.5), IsEmpty());
    EXPECT_THAT(findings("rope_theta", 10000), ElementsAre(HasSubstr("rope_theta = 10000")));
    EXPECT_THAT(findings("partial_rotary_factor", 0.25),
                ElementsAre(HasSubstr("partial_rotary_factor = 0.25")));
}

TEST(Gpt2Settings, ScoresMayBeUnscaled) {
    const auto scales = [](const json& with) {
        return options_of(*settings_of("gpt2", {}, with).config, "scale");
    };
    EXPECT_THAT(scales({{"scale_attn_weights", false}}), ElementsAre(1, 1));
    const double scale = scales({}).front();
    EXPECT_THAT(scales({{"scale_attn_by_inverse_layer_idx", true}}), ElementsAre(scale, scale / 2));
    EXPECT_EQ(settings_of("gpt2", {}, {{"n_inner", 13}}).config->integer("feed_forward"), 13);
}

TEST(ActivationSettings, UnknownOnesAreRefusedByName) {
    EXPECT_THAT(settings_of("llama_gelu", {}, {{"hidden_act", "mish"}}).findings.unsupported,
                ElementsAre(HasSubstr("hidden_act = \"mish\"")));
    EXPECT_EQ(settings_of("llama_gelu", {}, {{"hidden_act", "relu"}}).config->value("activation"),
              Scalar{"relu"});
}

/// The refusals of a folder with these settings beside the defaults.
std::vector<std::string> refusals_of(const char* model_type, const json& settings) {
    json config = {{"model_type", model_type}};
    config.update(settings);
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", config.dump());
    Findings findings;
    (void)read_hf_config((folder.path() / "config.json").string(), {}, findings);
    return findings.unsupported;
}

/// Classes that look at no setting of the rotation, or at another one.
TEST(RotationSettings, WhatTheClassDoesNotReadIsRefused) {
    EXPECT_THAT(refusals_of("gptj", json::object()), IsEmpty());
    for (const char* type : {"gptj", "codegen"})
        EXPECT_THAT(refusals_of(type, {{"rope_theta", 55.0}}), Contains(HasSubstr("rope_theta = 55.0")))
            << type;
    EXPECT_THAT(refusals_of("bamba", {{"partial_rotary_factor", 0.5}}), IsEmpty());
    EXPECT_THAT(refusals_of("bamba", {{"partial_rotary_factor", 0.25}}),
                Contains(HasSubstr("the class rotates half of each head")));
    EXPECT_THAT(refusals_of("mpt", {{"attn_config", {{"alibi_bias_max", 16}}}}),
                Contains(HasSubstr("other slopes of ALiBi")));
    const json full = {{"rope_type", "default"}, {"rope_theta", 1e6}, {"partial_rotary_factor", 0.25}};
    EXPECT_THAT(
        settings_of("gemma4", {}, {{"rope_parameters", {{"full_attention", full}}}}).findings.unsupported,
        Contains(HasSubstr("rotation of a part of each head")));
}

/// A text that begins with another one reads its settings, of which the class may know nothing.
TEST(ArchitectureSettings, WhatAClassHasNotOfItsTextsModelIsRefused) {
    const json groups = {{"n_group", 2}, {"topk_group", 1}}, one = {{"n_group", 1}, {"topk_group", 1}};
    for (const char* type : {"afmoe", "hy_v3", "kolibri1"}) {
        EXPECT_THAT(refusals_of(type, one), IsEmpty()) << type;
        EXPECT_THAT(refusals_of(type, groups), Contains(HasSubstr("groups of experts"))) << type;
    }
    for (const char* type : {"opt", "xglm", "biogpt"})
        EXPECT_THAT(refusals_of(type, {{"rms_norm_eps", 0.5}}), Contains(HasSubstr("rms_norm_eps = 0.5")))
            << type;
    for (const char* type : {"lfm2", "lfm2_moe", "lfm3"}) {
        json settings = {{"num_hidden_layers", 1}, {"layer_types", {"conv"}}, {"hidden_act", "silu"}};
        const auto is_refused = Contains(HasSubstr("another function than silu"));
        EXPECT_THAT(refusals_of(type, settings), Not(is_refused)) << type;
        settings["hidden_act"] = "gelu";
        EXPECT_THAT(refusals_of(type, settings), is_refused) << type;
    }
    EXPECT_THAT(refusals_of("gpt_bigcode", {{"scale_attn_by_inverse_layer_idx", true}}),
                Contains(HasSubstr("which the class does not do")));
    const ModelConfig config = defaults_with("qwen3_5_moe_text", {{"norm_topk_prob", false}});
    EXPECT_TRUE(truth_of(config.value("shares_of_chosen"), "")) << "the class divides by the sum in any case";
}

/// As transformers 4 wrote them.
TEST(ArchitectureSettings, OldNamesAreReadOrRefused) {
    EXPECT_EQ(defaults_with("persimmon", {{"rope_theta", 25000.0}}).ropes.at("rope").config.base, 25000);
    EXPECT_THAT(refusals_of("granitemoe", {{"position_embedding_type", "nope"}}),
                ElementsAre(HasSubstr("known are rope")));
    EXPECT_THAT(refusals_of("zamba2", {{"time_step_limit", nullptr}}), IsEmpty());
    EXPECT_THAT(refusals_of("zamba2", {{"time_step_limit", {0.1, 0.2}}}),
                ElementsAre(HasSubstr("limits of the time step")));
    EXPECT_THAT(refusals_of("longcat_flash", {{"num_layers", 2}, {"num_hidden_layers", 4}}), IsEmpty());
    EXPECT_THAT(refusals_of("longcat_flash", {{"num_layers", 2}, {"num_hidden_layers", 2}}),
                ElementsAre(HasSubstr("another number than two")));
}

/// transformers fills numbers of layers with zeros.
TEST(Gemma4Settings, NumbersOfLayersMayBeginWithZeros) {
    const auto width_of = [](const char* number) {
        const json settings = {{"num_hidden_layers", 12},
                               {"per_layer_config", {{number, {{"head_dim", 96}}}}}};
        return number_of(*defaults_with("gemma4_text", settings).scope(5)("layer_width"), "layer_width");
    };
    EXPECT_EQ(width_of("5"), 96);
    EXPECT_EQ(width_of("05"), 96);
    EXPECT_NE(width_of("04"), 96);
    EXPECT_THAT(refusals_of("gemma4_text",
                            {{"num_hidden_layers", 12}, {"per_layer_config", {{"005", {{"head_dim", 96}}}}}}),
                Contains(HasSubstr("per_layer_config.005")));
}

/// transformers has one ramp fewer than pairs.
TEST(RotationSettings, YarnOfAnOddNumberOfElementsIsRefused) {
    json yarn = {
        {"rope_type", "yarn"}, {"rope_theta", 1e4}, {"factor", 4.0}, {"partial_rotary_factor", 0.25}};
    EXPECT_THAT(refusals_of("stablelm", {{"hidden_size", 96},
                                         {"num_attention_heads", 8},
                                         {"num_key_value_heads", 8},
                                         {"rope_parameters", yarn}}),
                Contains(HasSubstr("yarn of 3 elements, an odd number")));
    yarn["partial_rotary_factor"] = 0.5;
    EXPECT_THAT(refusals_of("stablelm", {{"hidden_size", 96},
                                         {"num_attention_heads", 8},
                                         {"num_key_value_heads", 8},
                                         {"rope_parameters", yarn}}),
                IsEmpty());
}

}  // namespace
}  // namespace tessera::import
