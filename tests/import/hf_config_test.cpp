#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/architecture/part.h"
#include "import/hf/config.h"
#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Read {
    std::optional<ModelConfig> config;
    Findings findings;
};

Read read_text(const std::string& text) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", text);
    Read result;
    result.config = read_hf_config((folder.path() / "config.json").string(), {}, result.findings);
    return result;
}

/// The settings of a small model, changed by a JSON merge patch (null removes).
Read read(const json& patch = json::object(), const std::string& architecture = "llama") {
    testing::RandomDecoder model;
    model.architecture = architecture;
    json config = testing::config_of(model);
    config.merge_patch(patch);
    return read_text(config.dump());
}

/// The tokens that the attention of a layer sees; 0: all before it.
double window_of(const ModelConfig& config, size_t layer) {
    const ModelParts parts = parts_of(config);
    for (const PartStep& step : parts.layers.at(layer).steps)
        if (const TermPtr window = step.is_call("attend") ? step.term->option("window") : nullptr)
            return window->number;
    return 0;
}

TEST(HfConfig, ReadsAllSettings) {
    const Read found = read({{"eos_token_id", {7, 9}}, {"torch_dtype", "bfloat16"}, {"rms_norm_eps", 1e-6}});
    ASSERT_TRUE(found.config);
    EXPECT_EQ(found.config->name(), "llama");
    EXPECT_EQ(found.config->integer("cache_heads"), 2);
    EXPECT_EQ(found.config->integer("head_width"), 6);
    EXPECT_EQ(found.config->real("epsilon"), 1e-6);
    EXPECT_EQ(found.config->max_positions, 64);
    EXPECT_EQ(found.config->ropes.at("rope").config, RopeConfig{});
    EXPECT_EQ(found.config->is_tied, false);
    EXPECT_THAT(found.config->end_ids, ElementsAre(7, 9));
    EXPECT_EQ(found.config->stated_type, "bfloat16");
    EXPECT_THAT(found.findings.unsupported, IsEmpty());
    EXPECT_THAT(found.findings.warnings, IsEmpty());
}

TEST(HfConfig, DefaultsAreThoseOfTransformers) {
    const Read found = read({{"num_key_value_heads", nullptr},
                             {"head_dim", nullptr},
                             {"num_attention_heads", 5},
                             {"rms_norm_eps", nullptr},
                             {"rope_theta", nullptr},
                             {"tie_word_embeddings", nullptr}});
    ASSERT_TRUE(found.config);
    EXPECT_EQ(found.config->integer("cache_heads"), 5);
    EXPECT_EQ(found.config->integer("head_width"), 4);
    EXPECT_EQ(found.config->real("epsilon"), 1e-6);
    EXPECT_EQ(found.config->ropes.at("rope").config.base, 10000);
    EXPECT_EQ(found.config->is_tied, false);
    EXPECT_EQ(read({{"head_dim", nullptr}}, "qwen3").config->integer("head_width"), 128);
}

TEST(HfConfig, ArchitectureMayBeNamedByItsClass) {
    const Read found = read({{"model_type", nullptr}, {"architectures", {"Qwen2ForCausalLM"}}});
    ASSERT_TRUE(found.config);
    EXPECT_EQ(found.config->name(), "qwen2");
    EXPECT_THAT(read({{"architectures", {"LlamaForSequenceClassification"}}}).findings.unsupported,
                ElementsAre(HasSubstr("expected LlamaForCausalLM")));
}

TEST(HfConfig, RopeScalingIsReadInBothSpellings) {
    const json llama3 = {{"rope_type", "llama3"},
                         {"factor", 8},
                         {"low_freq_factor", 1.0},
                         {"high_freq_factor", 4.0},
                         {"original_max_position_embeddings", 32}};
    const RopeConfig expected{.base = 10000,
                              .scaling = RopeConfig::Scaling::kLlama3,
                              .factor = 8,
                              .low_frequency_factor = 1,
                              .high_frequency_factor = 4,
                              .original_context = 32};
    EXPECT_EQ(read({{"rope_scaling", llama3}}).config->ropes.at("rope").config, expected);
    json parameters = llama3;
    parameters["rope_theta"] = 500000;
    RopeConfig with_base = expected;
    with_base.base = 500000;
    EXPECT_EQ(read({{"rope_parameters", parameters}}).config->ropes.at("rope").config, with_base);
    const RopeConfig linear =
        read({{"rope_scaling", {{"type", "linear"}, {"factor", 2.5}}}}).config->ropes.at("rope").config;
    EXPECT_EQ(linear.scaling, RopeConfig::Scaling::kLinear);
    EXPECT_EQ(linear.factor, 2.5);
    EXPECT_EQ(read({{"rope_scaling", {{"rope_type", "default"}}}}).config->ropes.at("rope").config,
              RopeConfig{});
}

TEST(HfConfig, GenerationConfigAddsTokensThatEndAText) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", testing::config_of({}).dump());
    testing::write_file(folder.path() / "generation_config.json", R"({"eos_token_id": [2, 5]})");
    Findings findings;
    const auto config = read_hf_config((folder.path() / "config.json").string(), {}, findings);
    EXPECT_THAT(config->end_ids, ElementsAre(2, 5));
}

TEST(HfConfig, EverythingUnsupportedIsNamedAtOnce) {
    const Read found = read({{"hidden_act", "mish"},
                             {"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 4}}},
                             {"quantization_config", {{"bits", 4}}},
                             {"num_experts", 8},
                             {"sliding_window", 4096},
                             {"partial_rotary_factor", 0.5},
                             {"layer_types", {"full_attention", "sliding_attention"}},
                             {"an_invention", 1}});
    ASSERT_TRUE(found.config);
    EXPECT_EQ(found.findings.unsupported.size(), 7u);
    for (const char* name :
         {"hidden_act = \"mish\"", "rope_scaling.rope_type = \"dynamic\"", "quantization_config",
          "num_experts = 8", "sliding_window = 4096", "partial_rotary_factor = 0.5", "layer_types"})
        EXPECT_THAT(found.findings.unsupported, Contains(HasSubstr(name)));
    EXPECT_THAT(found.findings.warnings, ElementsAre(HasSubstr("an_invention")));
}

TEST(HfConfig, NeutralSettingsAreAccepted) {
    const json neutral = {
        {"sliding_window", nullptr},         {"use_sliding_window", false},  {"num_experts", 0},
        {"quantization_config", nullptr},    {"partial_rotary_factor", 1.0}, {"hidden_act", "swish"},
        {"layer_types", {"full_attention"}}, {"rope_scaling", nullptr},      {"pretraining_tp", 1}};
    EXPECT_THAT(read(neutral).findings.unsupported, IsEmpty());
    EXPECT_THAT(read({{"sliding_window", 4096}, {"use_sliding_window", false}}, "qwen2").findings.unsupported,
                IsEmpty())
        << "Qwen2 has a window only if it uses one";
}

TEST(HfConfig, RopeParametersMayBeByTypesOfLayers) {
    const json plain = {{"rope_type", "default"}, {"rope_theta", 5000.0}};
    const json linear = {{"rope_type", "linear"}, {"factor", 4.0}};
    const auto nested = [](const json& full) -> json {
        return {
            {"rope_theta", 300.0},
            {"rope_parameters", {{"full_attention", full}, {"sliding_attention", {{"rope_theta", 7.0}}}}}};
    };
    const auto read_gemma = [](const json& patch) { return read(patch, "gemma3_text"); };
    const Read found = read_gemma(nested(plain));
    EXPECT_EQ(found.config->ropes.at("rope").config.base, 5000);
    EXPECT_EQ(found.config->ropes.at("local_rope").config.base, 7);
    EXPECT_THAT(found.findings.unsupported, IsEmpty());
    EXPECT_THAT(found.findings.warnings, IsEmpty());
    EXPECT_EQ(read_gemma(nested(linear)).config->ropes.at("rope").config.factor, 4);
    EXPECT_EQ(read_gemma(nested(linear)).config->ropes.at("rope").config.base, 300)
        << "what the type does not say";
    EXPECT_EQ(read_gemma({{"rope_parameters", {{"sliding_attention", plain}}}})
                  .config->ropes.at("local_rope")
                  .config.base,
              5000);
    EXPECT_THAT(read_gemma({{"rope_parameters", linear}}).findings.unsupported,
                ElementsAre(HasSubstr("rope_parameters.factor = 4.0")));
    EXPECT_THAT(read(nested(plain)).findings.unsupported, ElementsAre(HasSubstr("rope_parameters = ")))
        << "the class of Llama looks for parameters of all layers";
}

TEST(HfConfig, RopeSettingsThatWouldBeIgnoredAreRefused) {
    const auto refused = [](const json& patch, const char* setting) {
        EXPECT_THAT(read(patch).findings.unsupported, ElementsAre(HasSubstr(setting))) << patch;
    };
    const json linear = {{"rope_type", "linear"}, {"factor", 4.0}};
    refused({{"rope_scaling", {{"factor", 4.0}}}}, "rope_scaling.factor = 4.0: a scaling without a type");
    refused({{"rope_scaling", {{"rope_type", "default"}, {"factor", 4.0}}}},
            "rope_scaling.factor = 4.0: type default does not scale");
    refused({{"rope_scaling", {{"rope_type", "linear"}, {"factor", 4.0}, {"attention_factor", 1.2}}}},
            "rope_scaling.attention_factor = 1.2");
    refused({{"rope_scaling", {{"rope_type", "linear"}, {"factor", 4.0}, {"beta_fast", 32}}}},
            "rope_scaling.beta_fast = 32");
    refused({{"rope_scaling", {{"rope_type", "linear"}, {"type", "mrope"}, {"factor", 4.0}}}},
            "rope_scaling.type = \"mrope\"");
    refused({{"rope_scaling", linear}, {"rope_parameters", {{"rope_type", "linear"}, {"factor", 2.0}}}},
            "rope_scaling = ");
    refused({{"rope_parameters", {{"full_attention", linear}, {"mscale", 2}}}}, "rope_parameters = ");
    refused({{"rotary_emb_base", 500}}, "rotary_emb_base = 500");
    EXPECT_THAT(read({{"rope_scaling", linear}, {"rope_parameters", linear}}).findings.unsupported,
                IsEmpty());
    EXPECT_THAT(
        read({{"rope_scaling",
               {{"rope_type", "default"}, {"factor", 1.0}, {"original_max_position_embeddings", 64}}}})
            .findings.unsupported,
        IsEmpty());
}

TEST(HfConfig, WhatIsNotCausalIsRefused) {
    for (const char* field : {"is_causal", "causal", "use_causal_mask"}) {
        EXPECT_THAT(read({{field, false}}).findings.unsupported, ElementsAre(HasSubstr(field)));
        EXPECT_THAT(read({{field, true}}).findings.unsupported, IsEmpty());
    }
}

TEST(HfConfig, UnreadSettingsAreRefusedOrWarnedAbout) {
    const Read found = read({{"attn_temperature", 0.5},
                             {"use_rope", false},
                             {"use_moe_gate", false},
                             {"an_invention", {1, 2}},
                             {"auto_map", {{"AutoModelForCausalLM", "modeling_own.OwnForCausalLM"}}},
                             {"attention_dropout", 0.1},
                             {"temperature", 0.7},
                             {"empty_scale", json::object()}});
    EXPECT_THAT(found.findings.unsupported,
                ElementsAre(AllOf(HasSubstr("attn_temperature = 0.5"), HasSubstr("use_rope = false"))));
    EXPECT_THAT(
        found.findings.warnings,
        ::testing::UnorderedElementsAre(HasSubstr("auto_map"), AllOf(HasSubstr("an_invention = [1,2]"),
                                                                     HasSubstr("use_moe_gate = false"))));
}

TEST(HfConfig, NumbersOfLayersMayBeListsOfEqualOnes) {
    const Read found = read(
        {{"num_attention_heads", {6, 6}}, {"num_key_value_heads", {2, 2}}, {"intermediate_size", {13, 13}}});
    EXPECT_EQ(found.config->integer("heads"), 6);
    EXPECT_EQ(found.config->integer("cache_heads"), 2);
    EXPECT_EQ(found.config->integer("feed_forward"), 13);
    const Read different = read({{"num_key_value_heads", {2, 3}}});
    EXPECT_THAT(different.findings.unsupported,
                ElementsAre("num_key_value_heads = [2,3]: layers of different sizes"));
    EXPECT_TRUE(different.config->layers_differ);
    EXPECT_THROW((void)read({{"num_key_value_heads", {2, 2, 2}}}), Error) << "for three layers";
}

TEST(HfConfig, EndTokensThatAreNoneAreWarnedAbout) {
    const Read found = read({{"eos_token_id", {2, -1, 23, 5}}, {"bos_token_id", 4000}});
    EXPECT_THAT(found.config->end_ids, ElementsAre(2, 5));
    EXPECT_THAT(found.findings.warnings,
                ElementsAre(HasSubstr("eos_token_id = -1"), HasSubstr("eos_token_id = 23"),
                            HasSubstr("bos_token_id = 4000")));
    EXPECT_THAT(read({{"eos_token_id", 4294967295u}}).config->end_ids, IsEmpty());
    EXPECT_THAT(read({{"bos_token_id", "<s>"}}).findings.warnings, IsEmpty()) << "the tokenizer knows it";
}

TEST(HfConfig, WindowsOfQwenCountWhereTheyAct) {
    const json window = {{"use_sliding_window", true}, {"sliding_window", 16}, {"max_window_layers", 1}};
    for (const char* architecture : {"qwen2", "qwen3"}) {
        const Read from_one = read(window, architecture);
        EXPECT_THAT(from_one.findings.unsupported, IsEmpty());
        EXPECT_EQ(window_of(*from_one.config, 0), 0);
        EXPECT_EQ(window_of(*from_one.config, 1), 16) << "from max_window_layers on";
        json full = window;
        full["layer_types"] = {"full_attention", "full_attention"};
        EXPECT_THAT(read(full, architecture).findings.unsupported, IsEmpty());
        full["layer_types"][1] = "sliding_attention";
        const Read found = read(full, architecture);
        EXPECT_THAT(found.findings.unsupported, IsEmpty());
        EXPECT_EQ(found.config->integer("window"), 16);
        EXPECT_EQ(window_of(*found.config, 0), 0);
        EXPECT_EQ(window_of(*found.config, 1), 16);
        full["use_sliding_window"] = false;
        EXPECT_THAT(read(full, architecture).findings.unsupported, ElementsAre(HasSubstr("layer_types")));
        full["use_sliding_window"] = true;
        full["layer_types"][1] = "linear_attention";
        EXPECT_THAT(read(full, architecture).findings.unsupported, ElementsAre(HasSubstr("layer_types")));
    }
}

/// transformers computes nothing with one.
TEST(HfConfig, AWindowOfNoTokensIsRefused) {
    for (const char* architecture : {"mistral", "mixtral", "phi3"})
        EXPECT_THROW((void)read({{"sliding_window", 0}}, architecture), Error) << architecture;
}

TEST(HfConfig, OriginalContextsBesideAScalingCount) {
    const json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}};
    const auto with = [&](const json& patch, const char* architecture = "llama") {
        const Read found = read(patch, architecture);
        EXPECT_THAT(found.findings.unsupported, IsEmpty()) << patch;
        return std::pair(found.config->ropes.at("rope").config.original_context, found.findings.warnings);
    };
    json inside = yarn;
    inside["original_max_position_embeddings"] = 32;
    EXPECT_EQ(with({{"rope_scaling", yarn}}).first, 64) << "the positions of the model";
    EXPECT_EQ(with({{"rope_scaling", yarn}, {"original_max_position_embeddings", 16}}).first, 16);
    EXPECT_EQ(with({{"rope_scaling", inside}}).first, 32);
    const auto [both, warnings] = with({{"rope_scaling", inside}, {"original_max_position_embeddings", 16}});
    EXPECT_EQ(both, 16);
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("16 beside it counts, as in transformers 5")));
    const json factors = json::array({1.0, 1.0, 1.0});
    json longrope = {{"rope_type", "longrope"},
                     {"short_factor", factors},
                     {"long_factor", factors},
                     {"original_max_position_embeddings", 32}};
    EXPECT_EQ(with({{"rope_scaling", longrope}}, "phi3").first, 4096) << "the class has a default of its own";
    EXPECT_EQ(with({{"rope_scaling", longrope}}, "llama").first, 32);
}

TEST(HfConfig, AnotherNameOfASettingMeansTheSame) {
    const json named = {{"num_experts", 3}, {"num_experts_per_tok", 2}};
    EXPECT_EQ(read(named, "mixtral").config->integer("expert_count"), 3);
    json twice = named;
    twice["num_local_experts"] = 4;
    EXPECT_THAT(read(twice, "mixtral").findings.unsupported,
                ElementsAre(HasSubstr("num_experts = 3: another value than that of num_local_experts")));
}

TEST(HfConfig, UnknownArchitecturesAreNamedWithTheRest) {
    const Read found = read({{"model_type", "hyena"}, {"attn_logit_softcapping", 50.0}});
    EXPECT_FALSE(found.config);
    EXPECT_THAT(found.findings.unsupported, ElementsAre(AllOf(HasSubstr("architecture hyena: known are "),
                                                              HasSubstr("gemma3_text, "), HasSubstr("qwen2")),
                                                        HasSubstr("attn_logit_softcapping")));
}

struct Wrong {
    const char* name;
    json patch;
    const char* message;
};

class HfConfigErrors : public ::testing::TestWithParam<Wrong> {};

TEST_P(HfConfigErrors, NameTheField) {
    try {
        (void)read(GetParam().patch);
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr(GetParam().message), HasSubstr("config.json")));
    }
}

const Wrong kWrongs[] = {
    {"type", {{"hidden_size", "64"}}, "`hidden_size`: is \"64\", expected an integer"},
    {"real", {{"hidden_size", 64.5}}, "`hidden_size`: is 64.5, expected an integer"},
    {"zero", {{"num_hidden_layers", 0}}, "`num_hidden_layers`: is 0, expected"},
    {"negative", {{"vocab_size", -1}}, "`vocab_size`: is -1, expected"},
    {"huge", {{"vocab_size", 18446744073709551615u}}, "`vocab_size`: is 18446744073709551615, expected"},
    {"heads",
     {{"num_key_value_heads", 4}},
     "`num_key_value_heads`: is 4, expected a divisor of num_attention_heads = 6"},
    {"odd_head", {{"head_dim", 7}}, "`head_dim`: is 7, expected an even number"},
    {"too_many_heads", {{"head_dim", nullptr}, {"hidden_size", 4}}, "`head_dim`: is 0"},
    {"epsilon", {{"rms_norm_eps", -1e-6}}, "`rms_norm_eps`: is -1e-06, expected a number from 0 to 1"},
    {"theta", {{"rope_theta", 0}}, "`rope_theta`: is 0, expected"},
    {"tied", {{"tie_word_embeddings", "yes"}}, "`tie_word_embeddings`: is \"yes\", expected true or false"},
    {"scaling", {{"rope_scaling", 8}}, "`rope_scaling`: is 8, expected an object"},
    {"scaling_factor", {{"rope_scaling", {{"type", "linear"}}}}, "`rope_scaling.factor`: is missing"},
    {"llama3_factors",
     {{"rope_scaling",
       {{"rope_type", "llama3"},
        {"factor", 8},
        {"low_freq_factor", 4},
        {"high_freq_factor", 4},
        {"original_max_position_embeddings", 64}}}},
     "`rope_scaling.high_freq_factor`: is 4, expected more than"},
    {"eos", {{"eos_token_id", "</s>"}}, "`eos_token_id`: is \"</s>\", expected an integer"},
    {"no_architecture", {{"model_type", nullptr}}, "`model_type`: is missing, and so is `architectures`"},
};

INSTANTIATE_TEST_SUITE_P(All, HfConfigErrors, ::testing::ValuesIn(kWrongs),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

TEST(HfConfig, FilesThatAreNoObjectAreErrors) {
    for (const char* text : {"", "{", "[]", "3", R"({"a": 1, "a": 2})"})
        EXPECT_THROW((void)read_text(text), Error) << text;
    EXPECT_THROW((void)read_text(std::string(100, '[')), Error);
    EXPECT_THROW((void)read_text(std::string(2 << 20, ' ')), Error) << "longer than any config.json";
}

}  // namespace
}  // namespace tessera::import
