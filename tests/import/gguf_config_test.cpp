#include "import/gguf/gguf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/run_model.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// The meaning of GGUF metadata, tested by the logits of files that have them.

namespace tessera::import {
namespace {

using test::GgufBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GgufMeaning : public ::testing::TestWithParam<const char*> {
protected:
    GgufMeaning() {
        decoder_.architecture = GetParam();
        decoder_.qkv_bias = decoder_.architecture == "qwen2";
        decoder_.head_norms = decoder_.architecture == "qwen3";
        decoder_.theta = 300;
        decoder_.fill(11);
    }

    std::string key(const std::string& suffix) const { return decoder_.architecture + "." + suffix; }
    std::filesystem::path path() const { return folder_.path() / "model.gguf"; }
    void write(std::function<void(GgufBuilder&)> add, std::set<std::string> without = {}) const {
        testing::write_gguf(decoder_, path(), {.without = std::move(without), .add = std::move(add)});
    }
    Findings findings(std::function<void(GgufBuilder&)> add, std::set<std::string> without = {}) const {
        write(std::move(add), std::move(without));
        return inspect_model(path()).checkpoint.findings;
    }
    void expect_logits() const {
        EXPECT_LT(testing::distance_from_loops(import_model(path()), decoder_), 3e-6);
    }

    testing::RandomDecoder decoder_;
    TemporaryFolder folder_;
};

TEST_P(GgufMeaning, AFactorWithoutATypeIsLinear) {
    decoder_.rope_scaling = {{"rope_type", "linear"}, {"factor", 4.0}};
    testing::RandomDecoder stored = decoder_;
    stored.rope_scaling = nullptr;
    for (const char* suffix : {"rope.scaling.factor", "rope.scale_linear"}) {
        testing::write_gguf(stored, path(),
                            {.without = {}, .add = [&](GgufBuilder& b) { b.f32(key(suffix), 4); }});
        expect_logits();
    }
    decoder_.rope_scaling = nullptr;
    write([&](GgufBuilder& b) {
        b.f32(key("rope.scaling.factor"), 4).string(key("rope.scaling.type"), "none");
    });
    expect_logits();
    write([&](GgufBuilder& b) { b.f32(key("rope.scaling.factor"), 0); });
    expect_logits();
}

TEST_P(GgufMeaning, TheAttentionFactorMultipliesWhatIsRotated) {
    decoder_.rope_amplitude = 1.5;
    write([&](GgufBuilder& b) { b.f32(key("rope.scaling.attn_factor"), 1.5); });
    expect_logits();
    EXPECT_THAT(import_model(path()).warnings, ElementsAre(HasSubstr("rope.scaling.attn_factor = 1.5")));
}

TEST_P(GgufMeaning, EqualNumbersOfLayersMayBeAList) {
    write(
        [&](GgufBuilder& b) {
            b.numbers<int32_t>(key("attention.head_count"), 5, {6, 6});
            b.numbers<uint32_t>(key("attention.head_count_kv"), 4, {2, 2});
            b.numbers<uint64_t>(key("feed_forward_length"), 10, {13, 13});
        },
        {"attention.head_count", "attention.head_count_kv", "feed_forward_length"});
    expect_logits();
    const auto with_heads = [&](const std::vector<int32_t>& heads) {
        return findings([&](GgufBuilder& b) { b.numbers(key("attention.head_count_kv"), 5, heads); },
                        {"attention.head_count_kv"});
    };
    EXPECT_THAT(with_heads({2, 3}).unsupported,
                ElementsAre(key("attention.head_count_kv = [2, 3]: layers of different sizes")))
        << "and no other key or tensor is blamed";
    EXPECT_THROW((void)with_heads({2, 2, 2}), Error);
    EXPECT_THROW((void)with_heads({2, 0}), Error);
}

TEST_P(GgufMeaning, EndTokensThatAreNoneAreWarnedAbout) {
    write([&](GgufBuilder& b) {
        b.u32("tokenizer.ggml.eos_token_id", 0xffffffff).u32("tokenizer.ggml.eot_token_id", 23);
        b.scalar("tokenizer.ggml.bos_token_id", 5, int32_t{4000});
    });
    const ImportedModel model = import_model(path());
    EXPECT_THAT(model.facts.end_ids, IsEmpty());
    EXPECT_THAT(model.warnings,
                ElementsAre(HasSubstr("eos_token_id = 4294967295"), HasSubstr("eot_token_id = 23"),
                            HasSubstr("bos_token_id = 4000")));
    write([&](GgufBuilder& b) { b.numbers<int32_t>("tokenizer.ggml.eos_token_id", 5, {7, -1, 9}); });
    EXPECT_THAT(import_model(path()).facts.end_ids, ElementsAre(7, 9));
    EXPECT_THAT(import_model(path()).warnings, ElementsAre(HasSubstr("eos_token_id = -1")));
}

TEST_P(GgufMeaning, WhatChangesTheComputationIsRefused) {
    const auto refuses = [&](const char* what, std::function<void(GgufBuilder&)> add) {
        EXPECT_THAT(findings(std::move(add)).unsupported, ElementsAre(HasSubstr(what))) << what;
    };
    refuses("attention.causal = false", [&](GgufBuilder& b) { b.boolean(key("attention.causal"), false); });
    refuses("general.type = \"adapter\"", [&](GgufBuilder& b) { b.string("general.type", "adapter"); });
    refuses("adapter.lora.alpha = 16", [&](GgufBuilder& b) { b.f32("adapter.lora.alpha", 16); });
    refuses("rope.scaling.yarn_beta_fast",
            [&](GgufBuilder& b) { b.f32(key("rope.scaling.yarn_beta_fast"), 32); });
    refuses("rope.freq_base_swa", [&](GgufBuilder& b) { b.f32(key("rope.freq_base_swa"), 100); });
    refuses("rope.scaling.type = \"longrope\"",
            [&](GgufBuilder& b) { b.string(key("rope.scaling.type"), "longrope"); });
    refuses("attention.layer_norm_epsilon",
            [&](GgufBuilder& b) { b.f32(key("attention.layer_norm_epsilon"), 1e-5f); });
}

TEST_P(GgufMeaning, TheRestIsHarmlessOrWarnedAbout) {
    const Findings harmless = findings([&](GgufBuilder& b) {
        b.string("general.name", "x").string("general.type", "model").u32("general.file_type", 7);
        b.boolean(key("attention.causal"), true).u32(key("rope.scaling.original_context_length"), 32);
        b.string("quantize.imatrix.file", "y").u32(key("expert_count"), 0).f32(key("logit_scale"), 0);
        b.string(key("tensor_data_layout"), "Meta AI original pth");
    });
    EXPECT_THAT(harmless.unsupported, IsEmpty());
    EXPECT_THAT(harmless.warnings, IsEmpty());
    const Findings ignored =
        findings([&](GgufBuilder& b) { b.u32(key("pooling_type"), 3).string("mine.author", "z"); });
    EXPECT_THAT(ignored.unsupported, IsEmpty());
    EXPECT_THAT(ignored.warnings,
                ElementsAre(AllOf(HasSubstr("pooling_type = 3"), HasSubstr("mine.author = \"z\""))));
}

INSTANTIATE_TEST_SUITE_P(All, GgufMeaning, ::testing::Values("llama", "qwen2", "qwen3"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tessera::import
