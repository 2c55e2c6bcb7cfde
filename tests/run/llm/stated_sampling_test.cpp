// How the files of a model say that tokens are drawn.
#include "run/llm/stated_sampling.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/gguf_builder.h"
#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StatedSampling of_config(const std::string& text) {
    const std::vector<runtime::NamedFile> files = {{"generation_config.json", text}};
    return read_stated_sampling(files, "toy.tsr");
}

const SamplingOptions kOtherwise{.temperature = 0.7, .top_p = 0.95, .min_p = 0.05};

TEST(StatedSampling, OfGenerationConfig) {
    const StatedSampling qwen = of_config(
        R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "eos_token_id": 2})");
    EXPECT_EQ(qwen.choices, (SamplingChoices{.temperature = 0.6, .top_k = 20, .top_p = 0.95}));
    EXPECT_EQ(qwen.where, "generation_config.json");
    EXPECT_THAT(qwen.not_followed, IsEmpty());
    // A setting that the file leaves open is neutral, not the one that stands in for files that say nothing.
    const SamplingOptions decided = llm::decided(qwen, kOtherwise);
    EXPECT_EQ(decided.min_p, 0);
    EXPECT_EQ(describe(decided), "temperature 0.6, top-k 20, top-p 0.95");

    EXPECT_EQ(llm::decided(of_config(R"({"do_sample": true, "top_k": 64.0})"), kOtherwise).temperature, 1);
    EXPECT_EQ(llm::decided(of_config(R"({"do_sample": false, "temperature": 0.6})"), kOtherwise).temperature,
              0);
    EXPECT_EQ(llm::decided(of_config(R"({"top_k": -1, "temperature": 0.3})"), kOtherwise).top_k, 0);
    EXPECT_EQ(llm::decided(of_config(R"({"typical_p": 0.9})"), kOtherwise).typical_p, 0.9);
}

TEST(StatedSampling, APenaltyAloneSaysNothingOfDrawing) {
    const StatedSampling stated = of_config(R"({"repetition_penalty": 1.1, "temperature": null})");
    const SamplingOptions decided = llm::decided(stated, kOtherwise);
    EXPECT_EQ(decided.temperature, 0.7);
    EXPECT_EQ(decided.top_p, 0.95);
    EXPECT_EQ(decided.repetition_penalty, 1.1);
    EXPECT_EQ(decided.repetition_window, std::numeric_limits<int64_t>::max());
}

TEST(StatedSampling, FilesThatSayNothingLeaveTheOptions) {
    for (const char* text : {"{}", R"({"eos_token_id": [1, 2], "max_length": 20})", "[]"}) {
        const StatedSampling stated = of_config(text);
        EXPECT_EQ(stated.where, "");
        EXPECT_EQ(llm::decided(stated, kOtherwise).min_p, 0.05);
    }
    EXPECT_EQ(read_stated_sampling({}, "toy.tsr").where, "");
}

TEST(StatedSampling, WhatIsNotFollowedIsToldAndKeepsNothingFromRunning) {
    const StatedSampling stated = of_config(
        R"({"temperature": "hot", "top_p": 1.5, "num_beams": 4, "guidance_scale": 1.0, "no_repeat_ngram_size": 0,
            "suppress_tokens": [3], "bad_words_ids": null, "do_sample": "yes"})");
    EXPECT_EQ(stated.choices, SamplingChoices{});
    EXPECT_THAT(stated.not_followed,
                ElementsAre(HasSubstr("temperature is \"hot\""), HasSubstr("top_p is 1.5"),
                            HasSubstr("do_sample is \"yes\""), "num_beams is 4", "suppress_tokens is [3]"));
}

TEST(StatedSampling, OfAGgufFileAndOfTheArtefactThatCarriesIt) {
    const test::TemporaryFolder folder("sampling");
    test::GgufBuilder builder;
    builder.strings("tokenizer.ggml.tokens", {"a"})
        .f32("general.sampling.temp", 0.6F)
        .scalar<int32_t>("general.sampling.top_k", 5, 20)
        .f32("general.sampling.top_p", 0.95F)
        .f32("general.sampling.penalty_repeat", 1.1F)
        .scalar<int32_t>("general.sampling.penalty_last_n", 5, -1)
        .scalar<int32_t>("general.sampling.mirostat", 5, 2)
        .string("general.sampling.min_p", "much")
        .string("general.name", "toy");
    folder.write("toy.gguf", builder.build());
    const StatedSampling stated = read_stated_sampling(folder.path() / "toy.gguf");
    EXPECT_EQ(describe(llm::decided(stated, {})),
              "temperature 0.6, top-k 20, top-p 0.95, repetition penalty 1.1");
    EXPECT_EQ(stated.choices.repetition_window, std::numeric_limits<int64_t>::max());
    EXPECT_THAT(stated.not_followed, ElementsAre(HasSubstr("min_p"), "mirostat is 2"));

    const std::vector<runtime::NamedFile> carried = tokenizer_files(folder.path() / "toy.gguf");
    EXPECT_EQ(read_stated_sampling(carried, "toy.tsr").choices, stated.choices);
}

TEST(StatedSampling, WhatIsChosenWins) {
    const StatedSampling stated = of_config(R"({"temperature": 0.6, "top_k": 20})");
    const SamplingOptions options = with(llm::decided(stated, kOtherwise), {.temperature = 0, .top_k = 5});
    EXPECT_EQ(options.temperature, 0);
    EXPECT_EQ(options.top_k, 5);
    EXPECT_EQ(describe(options), "the most probable tokens");
}

}  // namespace
}  // namespace tessera::llm
