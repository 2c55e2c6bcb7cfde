#include <fstream>
#include <regex>

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/architecture/part.h"
#include "import/checkpoint.h"
#include "import/gguf_builder.h"
#include "import/hf/config.h"
#include "import/random_checkpoint.h"
#include "support/error.h"
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

/// The names of the texts for the functions of transformers.
const std::map<std::string, std::string>& activations() {
    static const std::map<std::string, std::string> all = {
        {"silu", "silu"}, {"relu", "relu"}, {"gelu_new", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"}};
    return all;
}

/// A setting of the text; the other value where it has none of this name.
double number_or(const ModelConfig& config, const char* name, double otherwise, int64_t layer = 0) {
    const auto value = config.scope(layer)(name);
    return value && !value->is_null() ? number_of(*value, name) : otherwise;
}

/// The first step of a layer that calls a function. Null if there is none.
const PartStep* step_of(const ModelParts& parts, size_t layer, std::string_view function) {
    for (const PartStep& step : parts.layers[layer].steps)
        if (step.is_call(function)) return &step;
    return nullptr;
}

double option_of(const PartStep& step, const char* option, double otherwise) {
    const TermPtr term = step.term->option(option);
    return term && term->kind == Term::Kind::kNumber ? term->number : otherwise;
}

class DefaultSettingsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(DefaultSettingsOf, FoldersAreThoseOfTheClasses) {
    const json all = facts_of(GetParam());
    for (const auto& [kind, facts] : all.items()) {
        SCOPED_TRACE(kind);
        const TemporaryFolder folder;
        testing::write_file(folder.path() / "config.json", json({{"model_type", kind}}).dump());
        Findings findings;
        const auto config = read_hf_config((folder.path() / "config.json").string(), {}, findings);
        ASSERT_TRUE(config);
        EXPECT_THAT(findings.unsupported, ::testing::IsEmpty());
        EXPECT_THAT(findings.warnings, ::testing::IsEmpty());
        for (const char* name : {"vocabulary", "hidden", "feed_forward", "layers", "heads", "cache_heads",
                                 "head_width", "positions"})
            EXPECT_EQ(config->integer(name), facts.at(name)) << name;
        EXPECT_EQ(config->real("epsilon"), facts.at("epsilon"));
        EXPECT_EQ(config->is_tied, facts.at("is_tied").get<bool>());
        EXPECT_EQ(text_of(config->value("activation"), ""), activations().at(facts.at("activation")));
        const bool has_experts = facts.at("experts") > 0;
        EXPECT_EQ(number_or(*config, "expert_count", 0), facts.at("experts"));
        EXPECT_EQ(number_or(*config, "logits_cap", 0), facts.at("logits_cap"));
        if (has_experts) {
            EXPECT_EQ(config->integer("experts_chosen"), facts.at("experts_chosen"));
            EXPECT_EQ(config->integer("expert_width"), facts.at("expert_width"));
            EXPECT_EQ(truth_of(config->value("shares_of_chosen"), ""),
                      facts.at("shares_of_chosen").get<bool>());
        }
        const ModelParts parts = parts_of(*config);
        for (size_t i = 0; i < parts.layers.size(); ++i) {
            const PartStep* attention = step_of(parts, i, "attend");
            ASSERT_TRUE(attention);
            if (!facts.at("attention_scale").is_null()) {
                EXPECT_EQ(option_of(*attention, "scale", 0), facts.at("attention_scale").get<double>());
            }
            EXPECT_EQ(option_of(*attention, "cap", 0), facts.at("attention_cap"));
            EXPECT_EQ(option_of(*attention, "window", 0),
                      facts.at("windowed")[i].get<bool>() ? facts.at("window").get<double>() : 0);
            const bool is_rotated = !facts.at("rope_base").is_null() &&
                                    (facts.at("rotated").is_null() || facts["rotated"][i] == 1);
            EXPECT_EQ(step_of(parts, i, "rotate") != nullptr, is_rotated);
        }
        if (!facts.at("rope_base").is_null()) {
            EXPECT_EQ(config->ropes.at("rope").config.base, facts.at("rope_base"));
        }
        if (!facts.at("local_rope_base").is_null()) {
            EXPECT_EQ(config->ropes.at("local_rope").config.base, facts.at("local_rope_base"));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Versions, DefaultSettingsOf,
                         ::testing::Values("transformers-4.57.1.json", "transformers-5.24.0.json"),
                         [](const auto& version) { return version.index == 0 ? "Four" : "Five"; });

/// The findings about a folder's settings; an error is said alone.
std::string said_of(const std::string& config) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", config);
    Findings findings;
    try {
        (void)read_hf_config((folder.path() / "config.json").string(), {}, findings);
    } catch (const Error& error) {
        return error.what();
    }
    return fmt::format("{}{}", fmt::join(findings.unsupported, "; "), fmt::join(findings.warnings, "; "));
}

class SavedSettingsOf : public ::testing::TestWithParam<const char*> {};

/// A folder has all settings that its class had in the version that wrote it.
TEST_P(SavedSettingsOf, AreAccountedForWithoutAWord) {
    static const std::map<std::string, const char*> exceptions = {
        {"arcee", "is none of the 32000 tokens"},
        {"cohere_compass_text", "rotary tables that are not given"},
        {"deepseek_v2", "`num_experts_per_tok`: is missing"},
        {"dots1", "`n_routed_experts`: is missing"},
        {"hrm_text", "prompts whose tokens see later ones"},
        {"lfm2_moe", "`layer_types`: is missing"},
        {"starcoder2", "is none of the 49152 tokens"},
    };
    std::ifstream lines(std::string(TESSERA_SOURCE_DIR) + "/tests/import/defaults/" + GetParam());
    static const std::regex kind_of(R"re("model_type":"([^"]+)")re");
    int64_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        std::smatch kind;
        ASSERT_TRUE(std::regex_search(line, kind, kind_of)) << line;
        const auto expected = exceptions.find(kind[1]);
        const std::string said = said_of(line);
        if (expected == exceptions.end()) {
            EXPECT_EQ(said, "") << kind[1];
        } else if (!said.empty()) {
            EXPECT_THAT(said, ::testing::HasSubstr(expected->second)) << kind[1];
        }
    }
    EXPECT_GE(count, 100);
}

INSTANTIATE_TEST_SUITE_P(Versions, SavedSettingsOf,
                         ::testing::Values("saved-4.57.1.jsonl", "saved-5.24.0.jsonl"),
                         [](const auto& version) { return version.index == 0 ? "Four" : "Five"; });

TEST(DefaultSettings, GgufFilesAreThoseOfLlamaCpp) {
    const json all = facts_of("llama.cpp.json");
    for (const auto& [kind, facts] : all.items()) {
        SCOPED_TRACE(kind);
        const std::string name = Architectures().find(kind)->gguf_name;
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
        EXPECT_EQ(config->integer("cache_heads"), 2);
        EXPECT_EQ(config->integer("head_width"), 4);
        if (!config->ropes.empty()) {
            EXPECT_EQ(config->ropes.at("rope").config.base, facts.at("rope_base"));
        }
        EXPECT_EQ(number_or(*config, "logits_cap", 0), facts.at("logits_cap"));
        if (!facts.at("local_rope_base").is_null()) {
            EXPECT_EQ(config->ropes.at("local_rope").config.base, facts.at("local_rope_base"));
        }
        const ModelParts parts = parts_of(*config);
        for (size_t i = 0; i < parts.layers.size(); ++i) {
            const PartStep* attention = step_of(parts, i, "attend");
            ASSERT_TRUE(attention);
            EXPECT_EQ(option_of(*attention, "cap", 0), facts.at("attention_cap"));
            const bool is_windowed =
                facts.at("window") > 0 && (i + 1) % facts.at("period").get<size_t>() != 0;
            EXPECT_EQ(option_of(*attention, "window", 0), is_windowed ? facts.at("window").get<double>() : 0);
        }
    }
}

}  // namespace
}  // namespace tessera::import
