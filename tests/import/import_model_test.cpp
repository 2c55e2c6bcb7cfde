#include "import/import_model.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/gguf_builder.h"
#include "import/random_checkpoint.h"
#include "import/rope_tables.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImportModel : public ::testing::Test {
protected:
    ImportModel() { decoder_.fill(1); }

    void write(const nlohmann::json& patch = nlohmann::json::object()) {
        nlohmann::json config = testing::config_of(decoder_);
        config.merge_patch(patch);
        testing::write_file(folder_.path() / "config.json", config.dump());
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(decoder_.tensors));
    }

    std::string error_of(const ImportOptions& options = {}) {
        try {
            (void)import_model(folder_.path(), options);
        } catch (const Error& error) {
            return error.what();
        }
        ADD_FAILURE() << "was accepted";
        return {};
    }

    testing::RandomDecoder decoder_;
    TemporaryFolder folder_;
};

TEST_F(ImportModel, GivesGraphWeightsAndFacts) {
    write();
    const ImportedModel model = import_model(folder_.path());
    verify(model.graph, "model");
    ASSERT_EQ(model.graph.blocks.size(), 3u);
    EXPECT_EQ(model.graph.blocks[1].repeat, 2);
    EXPECT_EQ(model.facts.context, 64);
    EXPECT_EQ(model.facts.vocabulary, 23);
    EXPECT_THAT(model.facts.end_ids, ElementsAre(2));
    for (const Value& value : model.graph.values)
        for (const std::string& source : value.sources) {
            const StoredTensor* tensor = model.weights->find(source);
            ASSERT_NE(tensor, nullptr) << source;
            EXPECT_EQ(tensor->shape, evaluate(value.type.shape, {})) << source;
        }
    EXPECT_THAT(model.weights->names(), Contains("rope.cos"));
}

TEST_F(ImportModel, RopeTablesAreRoundedOnce) {
    write();
    const ImportedModel model = import_model(folder_.path());
    const StoredTensor& cos = *model.weights->find("rope.cos");
    ASSERT_THAT(cos.shape, ElementsAre(64, 3));
    float found = 0;
    std::memcpy(&found, cos.bytes.data() + (63 * 3 + 1) * sizeof(float), sizeof(float));
    EXPECT_EQ(found, static_cast<float>(std::cos(63 * std::pow(10000.0, -1.0 / 3))));
}

TEST_F(ImportModel, TiedEmbeddingIsOneConstant) {
    decoder_.tied = true;
    decoder_.tensors["lm_head.weight"] = decoder_.tensors["model.embed_tokens.weight"];
    write();
    const ImportedModel model = import_model(folder_.path());
    const Node& head = model.graph.blocks.back().nodes.back();
    EXPECT_EQ(model.graph[head.operands[1]].name, "embedding_weight");
    EXPECT_THAT(model.warnings, IsEmpty()) << "the stored head is the embedding";
}

TEST_F(ImportModel, ContextIsAnOption) {
    write();
    const ImportedModel model = import_model(folder_.path(), {.context = 40});
    EXPECT_EQ(model.facts.context, 40);
    EXPECT_EQ(model.graph.symbol("S")->high, 48) << "whole pages";
    EXPECT_THAT(error_of({.context = 65}), HasSubstr("`context`: is 65, expected 1 to 64"));
    EXPECT_THAT(error_of({.context = -1}), HasSubstr("is -1"));
    write({{"max_position_embeddings", 1 << 20}});
    EXPECT_EQ(import_model(folder_.path()).facts.context, kDefaultContext);
}

TEST_F(ImportModel, WhatIsWrongWithTensorsIsNamedAtOnce) {
    decoder_.tensors.erase("model.norm.weight");
    decoder_.tensors["model.layers.1.mlp.up_proj.weight"].shape = {20, 13};
    write({{"hidden_act", "mish"}});
    const std::string error = error_of();
    EXPECT_THAT(error, HasSubstr("hidden_act = \"mish\""));
    EXPECT_THAT(error, HasSubstr("1 missing tensors: model.norm.weight"));
    EXPECT_THAT(error, HasSubstr("model.layers.1.mlp.up_proj.weight has shape [20, 13], expected [13, 20]"));
}

TEST_F(ImportModel, OtherElementTypesAreCounted) {
    write();
    std::string bytes = testing::safetensors_of(decoder_.tensors);
    const auto replace = [&](const std::string& from, const std::string& to) {
        const size_t at = bytes.find(from);
        ASSERT_NE(at, std::string::npos);
        bytes.replace(at, from.size(), to);
    };
    replace(R"("dtype":"F32","shape":[23,20])", R"("dtype":"I32","shape":[23,20])");
    testing::write_file(folder_.path() / "model.safetensors", bytes);
    EXPECT_THAT(error_of(), HasSubstr("1 tensors of type I32: expected F32, F16, BF16, Q8_0"));
}

TEST_F(ImportModel, WithoutWeightsOnlyInspects) {
    write({{"torch_dtype", "float64"}});
    std::filesystem::remove(folder_.path() / "model.safetensors");
    EXPECT_THAT(inspect_model(folder_.path()).checkpoint.findings.unsupported,
                ElementsAre("tensors of type float64: expected float32, float16 or bfloat16"));
    EXPECT_THAT(inspect_model(folder_.path() / "config.json").checkpoint.format, HasSubstr("settings only"));
    write({{"torch_dtype", "bfloat16"}});
    std::filesystem::remove(folder_.path() / "model.safetensors");
    EXPECT_THAT(inspect_model(folder_.path()).checkpoint.findings.unsupported, IsEmpty());
    EXPECT_THAT(error_of(), HasSubstr("has no weights"));
    testing::write_file(folder_.path() / "pytorch_model.bin.index.json", "{}");
    EXPECT_THAT(error_of(), HasSubstr("weights in pytorch_model.bin.index.json"));
}

TEST_F(ImportModel, PathsThatHoldNoModelAreErrors) {
    EXPECT_THAT(error_of(), HasSubstr("has no config.json"));
    testing::write_file(folder_.path() / "b.gguf", "");
    testing::write_file(folder_.path() / "a.gguf", "");
    EXPECT_THAT(error_of(), AllOf(HasSubstr("is no model, but holds a.gguf"), HasSubstr("name the file: ")));
    EXPECT_THROW((void)import_model(folder_.path() / "absent"), Error);
    testing::write_file(folder_.path() / "text.txt", "hello");
    EXPECT_THROW((void)import_model(folder_.path() / "text.txt"), Error);
}

// ---- settings of GGUF files ----

class GgufSettings : public ::testing::Test {
protected:
    /// The keys of a model without tensors besides the embedding.
    test::GgufBuilder builder(const std::string& architecture = "llama") const {
        test::GgufBuilder b;
        b.string("general.architecture", architecture);
        for (const auto& [key, value] : std::map<std::string, uint32_t>{{"block_count", 1},
                                                                        {"context_length", 64},
                                                                        {"embedding_length", 8},
                                                                        {"feed_forward_length", 4},
                                                                        {"attention.head_count", 2}})
            b.u32(architecture + "." + key, value);
        b.tensor("token_embd.weight", {8, 3}, 0, 0).data(std::string(96, '\0'));
        return b;
    }

    ModelReport inspect(const test::GgufBuilder& b) const {
        testing::write_file(folder_.path() / "model.gguf", b.build());
        return inspect_model(folder_.path() / "model.gguf");
    }

    TemporaryFolder folder_;
};

TEST_F(GgufSettings, DefaultsAreThoseOfLlamaCpp) {
    const ModelReport report = inspect(builder().f32("llama.attention.layer_norm_rms_epsilon", 1e-5f));
    const ModelConfig& config = report.checkpoint.config.value();
    EXPECT_EQ(config.integer("cache_heads"), 2);
    EXPECT_EQ(config.integer("head_width"), 4);
    EXPECT_EQ(config.vocabulary, 3);
    EXPECT_EQ(config.ropes.at("rope").config, RopeConfig{});
    EXPECT_EQ(config.value("pairs"), Scalar{true});
    EXPECT_TRUE(report.spec->is_tied()) << "there is no output.weight";
    EXPECT_THAT(report.checkpoint.findings.unsupported, ElementsAre(HasSubstr("10 missing tensors")));
}

TEST_F(GgufSettings, EverythingUnsupportedIsNamedAtOnce) {
    const ModelReport report = inspect(builder()
                                           .f32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
                                           .u32("llama.attention.sliding_window", 4096)
                                           .u32("llama.rope.dimension_count", 2)
                                           .u32("llama.attention.value_length", 8)
                                           .string("llama.rope.scaling.type", "dynamic")
                                           .f32("llama.logit_scale", 0));
    const std::vector<std::string>& unsupported = report.checkpoint.findings.unsupported;
    EXPECT_EQ(unsupported.size(), 5u);  // with the missing tensors
    for (const char* key : {"llama.attention.sliding_window", "llama.rope.dimension_count",
                            "llama.attention.value_length", "llama.rope.scaling.type = \"dynamic\""})
        EXPECT_THAT(unsupported, Contains(HasSubstr(key)));
}

TEST_F(GgufSettings, UnknownArchitecturesAreNamedWithTheTypesOfTheirTensors) {
    test::GgufBuilder b = builder("hyena");
    b.tensor("output_norm.weight", {4}, 24, 96).data(std::string(100, '\0'));
    EXPECT_THAT(inspect(b).checkpoint.findings.unsupported,
                ElementsAre(AllOf(HasSubstr("architecture hyena: known are "), HasSubstr("llama, "),
                                  HasSubstr("qwen3moe")),
                            HasSubstr("1 tensors of type I8: expected F32, F16, BF16, Q8_0")));
}

TEST_F(GgufSettings, WrongValuesNameTheKey) {
    const auto error_of = [&](const test::GgufBuilder& b) {
        try {
            (void)inspect(b);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("was accepted");
    };
    EXPECT_THAT(error_of(builder()), HasSubstr("`llama.attention.layer_norm_rms_epsilon`: is missing"));
    const auto complete = [&] { return builder().f32("llama.attention.layer_norm_rms_epsilon", 1e-5f); };
    EXPECT_THAT(error_of(complete().u32("llama.attention.head_count_kv", 3)),
                HasSubstr("head_count_kv`: is 3"));
    EXPECT_THAT(error_of(complete().u32("llama.attention.key_length", 7)), HasSubstr("key_length`: is 7"));
    EXPECT_THAT(error_of(complete().u32("llama.vocab_size", 0)), HasSubstr("vocab_size`: is 0"));
    EXPECT_THAT(error_of(complete().f32("llama.rope.freq_base", -1)), HasSubstr("freq_base`: is -1"));
    EXPECT_THAT(error_of(complete().f32("llama.rope.freq_base", NAN)), HasSubstr("freq_base`: is nan"));
    EXPECT_THAT(error_of(test::GgufBuilder().u32("x", 1)), HasSubstr("`general.architecture`: is missing"));
}

}  // namespace
}  // namespace tessera::import
