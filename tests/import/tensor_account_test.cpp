#include "import/tensor_account.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/run_model.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// The treatment of tensors that the configuration does not announce, in both formats.

namespace tessera::import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NamedTensor;

class LeftOverTensors : public ::testing::Test {
protected:
    LeftOverTensors() { decoder_.fill(3); }

    NamedTensor tensor(std::vector<int64_t> shape, float value = 0.5f) const {
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        return {.shape = std::move(shape), .values = std::vector<float>(static_cast<size_t>(count), value)};
    }
    void write(const nlohmann::json& patch = nlohmann::json::object()) const {
        nlohmann::json config = testing::config_of(decoder_);
        config.merge_patch(patch);
        testing::write_file(folder_.path() / "config.json", config.dump());
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(decoder_.tensors));
    }
    Findings of_folder() const {
        write();
        return inspect_model(folder_.path()).checkpoint.findings;
    }
    Findings of_gguf() const {
        testing::write_gguf(decoder_, folder_.path() / "model.gguf");
        return inspect_model(folder_.path() / "model.gguf").checkpoint.findings;
    }

    testing::RandomDecoder decoder_;
    TemporaryFolder folder_;
};

TEST_F(LeftOverTensors, BiasesWithoutASettingAreRefused) {
    decoder_.tensors["model.layers.1.self_attn.q_proj.bias"] = tensor({36});
    decoder_.tensors["model.layers.0.mlp.down_proj.bias"] = tensor({20});
    EXPECT_THAT(of_folder().unsupported,
                ElementsAre(AllOf(HasSubstr("2 tensors that config.json does not announce"),
                                  HasSubstr("model.layers.1.self_attn.q_proj.bias"),
                                  HasSubstr("model.layers.0.mlp.down_proj.bias"))));
    EXPECT_THAT(of_gguf().unsupported, IsEmpty()) << "llama.cpp reads biases that are stored";
}

TEST_F(LeftOverTensors, HeadNormsOfAnotherArchitectureAreRefused) {
    decoder_.head_norms = true;
    decoder_.fill(3);
    EXPECT_THAT(of_folder().unsupported, ElementsAre(HasSubstr("model.layers.0.self_attn.q_norm.weight")));
    EXPECT_THAT(of_gguf().unsupported, ElementsAre(HasSubstr("blk.0.attn_q_norm.weight")));
}

TEST_F(LeftOverTensors, BiasesAndNormsThatNoArchitectureHasAreRefused) {
    for (const char* name : {"lm_head.bias", "model.norm.bias", "model.layers.1.input_layernorm.bias",
                             "model.layers.0.post_feedforward_layernorm.weight"}) {
        decoder_.tensors[name] = tensor({20});
        EXPECT_THAT(of_folder().unsupported, ElementsAre(HasSubstr(name)));
        EXPECT_THAT(of_folder().warnings, IsEmpty());
        decoder_.tensors.erase(name);
    }
}

TEST_F(LeftOverTensors, AdaptersAreRefused) {
    decoder_.tensors["base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"] = tensor({4, 20});
    EXPECT_THAT(of_folder().unsupported, ElementsAre(HasSubstr("lora_A")));
    decoder_.fill(3);
    decoder_.tensors.erase("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
    EXPECT_THAT(of_folder().unsupported, IsEmpty());
    testing::write_file(folder_.path() / "adapter_config.json", "{}");
    EXPECT_THAT(of_folder().unsupported, ElementsAre(HasSubstr("adapter_config.json")));
}

TEST_F(LeftOverTensors, TheRestIsWarnedAboutAsTransformersDoes) {
    decoder_.tensors["model.layers.2.input_layernorm.weight"] = tensor({20});
    decoder_.tensors["model.layers.0.self_attn.masked_bias"] = tensor({1}, -10000);
    decoder_.tensors["value_head.weight"] = tensor({1, 20});
    const Findings findings = of_folder();
    EXPECT_THAT(findings.unsupported, IsEmpty());
    EXPECT_THAT(findings.warnings,
                ElementsAre(AllOf(HasSubstr("3 tensors that the architecture does not have"),
                                  HasSubstr("model.layers.2.input_layernorm.weight"),
                                  HasSubstr("masked_bias"), HasSubstr("value_head.weight"))));
    EXPECT_EQ(import_model(folder_.path()).warnings, findings.warnings);
    EXPECT_LT(testing::distance_from_loops(import_model(folder_.path()), decoder_), 3e-6);
    EXPECT_THAT(of_gguf().unsupported,
                ElementsAre(HasSubstr("3 tensors that the architecture does not have")))
        << "llama.cpp refuses the file";
}

TEST_F(LeftOverTensors, FrequenciesAreHarmlessIfTheyAreThoseOfTheSettings) {
    NamedTensor frequencies = tensor({3});
    for (size_t i = 0; i < 3; ++i)
        frequencies.values[i] = static_cast<float>(std::pow(10000.0, -static_cast<double>(i) / 3));
    decoder_.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = frequencies;
    decoder_.tensors["model.rotary_emb.inv_freq"] = frequencies;
    EXPECT_THAT(of_folder().warnings, IsEmpty());
    frequencies.values[1] *= 1.1f;
    decoder_.tensors["model.rotary_emb.inv_freq"] = frequencies;
    EXPECT_THAT(of_folder().warnings, ElementsAre(HasSubstr("model.rotary_emb.inv_freq")));
}

TEST_F(LeftOverTensors, AStoredHeadCounts) {
    write({{"tie_word_embeddings", true}});
    const ImportedModel model = import_model(folder_.path());
    EXPECT_LT(testing::distance_from_loops(model, decoder_), 3e-6);
    EXPECT_THAT(model.warnings, ElementsAre(AllOf(HasSubstr("lm_head.weight differs"),
                                                  HasSubstr("the stored head is used"))));

    const auto with_tie = [&](bool tied) {
        testing::write_gguf(decoder_, folder_.path() / "model.gguf",
                            {.without = {}, .add = [&](test::GgufBuilder& b) {
                                 b.boolean("llama.tie_word_embeddings", tied);
                             }});
        return import_model(folder_.path() / "model.gguf");
    };
    EXPECT_LT(testing::distance_from_loops(with_tie(true), decoder_), 3e-6);
    EXPECT_THAT(with_tie(true).warnings, ElementsAre(HasSubstr("output.weight differs")));
    EXPECT_THAT(with_tie(false).warnings, IsEmpty());
}

TEST_F(LeftOverTensors, OfAnEmbeddingAndAHeadThatAreOneEitherMayBeStored) {
    decoder_.tied = true;
    decoder_.tensors.clear();
    decoder_.fill(3);
    const testing::RandomDecoder whole = decoder_;
    auto embedding = decoder_.tensors.extract("model.embed_tokens.weight");
    embedding.key() = "lm_head.weight";
    decoder_.tensors.insert(std::move(embedding));
    write({{"tie_word_embeddings", true}});
    const ImportedModel model = import_model(folder_.path());
    EXPECT_LT(testing::distance_from_loops(model, whole), 3e-6);
    EXPECT_THAT(model.warnings, IsEmpty());
    write({{"tie_word_embeddings", false}});
    EXPECT_THAT(inspect_model(folder_.path()).checkpoint.findings.unsupported,
                ElementsAre(HasSubstr("missing tensors: model.embed_tokens.weight")));
}

TEST_F(LeftOverTensors, AMissingHeadIsNamedUnlessItIsTied) {
    decoder_.tensors.erase("lm_head.weight");
    for (const nlohmann::json& patch : {nlohmann::json({{"tie_word_embeddings", false}}),
                                        nlohmann::json({{"tie_word_embeddings", nullptr}})}) {
        write(patch);
        EXPECT_THAT(inspect_model(folder_.path()).checkpoint.findings.unsupported,
                    ElementsAre(AllOf(HasSubstr("lm_head.weight is missing"),
                                      HasSubstr("tie_word_embeddings is not true"))));
    }
    decoder_.tied = true;
    testing::write_gguf(decoder_, folder_.path() / "model.gguf");
    EXPECT_LT(testing::distance_from_loops(import_model(folder_.path() / "model.gguf"), decoder_), 3e-6);
}

}  // namespace
}  // namespace tessera::import
