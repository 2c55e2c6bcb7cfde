#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"
#include "support/shared_data.h"

// The vectors in ../shared/data/tokenizers: real vocabularies, ids from an independent implementation.

namespace tessera::llm {
namespace {

struct Source {
    const char* name;
    const char* path;   ///< in the data folder
    const char* cases;  ///< likewise
};

std::filesystem::path data() {
    return test::shared_data("data");
}

class TokenizerVectors : public ::testing::TestWithParam<Source> {};

TEST_P(TokenizerVectors, AreExactAndDecodeToTheText) {
    const std::string name = std::string("data/") + GetParam().path;
    TESSERA_SKIP_WITHOUT_SHARED(name, "ids of real vocabularies");
    const auto path = data() / GetParam().path;
    const Tokenizer tokenizer = load_tokenizer(path);
    const nlohmann::json cases = test::read_json(data() / GetParam().cases);
    ASSERT_GT(cases.size(), 10u);
    for (const auto& item : cases) {
        const auto text = item.at("text").get<std::string>();
        const auto expected = item.at("ids").get<std::vector<TokenId>>();
        EXPECT_EQ(tokenizer.encode(text, {.parse_special = false}), expected) << text;
        EXPECT_EQ(tokenizer.encode(text), expected) << text;
        EXPECT_EQ(tokenizer.decode(expected), text);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, TokenizerVectors,
    ::testing::Values(
        Source{"Gpt2Json", "tokenizers/gpt-2/tokenizer.json", "tokenizers/gpt-2/cases.json"},
        Source{"Gpt2Gguf", "tokenizers/gpt-2/ggml-vocab-gpt-2.gguf", "tokenizers/gpt-2/cases.json"},
        Source{"Qwen2Files", "tokenizers/qwen2", "tokenizers/qwen2/cases.json"},
        Source{"LlamaJson", "tokenizers/llama-spm", "tokenizers/llama-spm/cases.json"},
        Source{"LlamaModel", "tokenizers/llama-spm/tokenizer.model", "tokenizers/llama-spm/cases.json"},
        Source{"LlamaGguf", "tokenizers/llama-spm/ggml-vocab-llama-spm.gguf",
               "tokenizers/llama-spm/cases.json"}),
    [](const auto& test_info) { return std::string(test_info.param.name); });

struct Published {
    const char* path;
    std::optional<TokenId> bos;
    std::vector<TokenId> eos;
    bool adds_bos;
    size_t size;
};

TEST(TokenizerData, SpecialTokensAreFound) {
    TESSERA_SKIP_WITHOUT_SHARED("data", "special tokens of real vocabularies");
    for (const Published& published : {
             Published{"tokenizers/qwen2", std::nullopt, {151643}, false, 151646},
             Published{"tokenizers/gpt-2/ggml-vocab-gpt-2.gguf", 50256, {50256}, false, 50257},
             Published{"tokenizers/llama-spm/ggml-vocab-llama-spm.gguf", 1, {2}, true, 32000},
             Published{"tokenizers/llama-spm/tokenizer.model", 1, {2}, true, 32000},
             Published{"stories260K/hf", 1, {2}, true, 512},
             Published{"stories260K/stories260K.gguf", 1, {2}, true, 512},
         }) {
        const Tokenizer tokenizer = load_tokenizer(data() / published.path);
        EXPECT_EQ(tokenizer.bos(), published.bos) << published.path;
        EXPECT_EQ(tokenizer.eos(), published.eos) << published.path;
        EXPECT_EQ(tokenizer.adds_bos(), published.adds_bos) << published.path;
        EXPECT_EQ(tokenizer.vocabulary_size(), published.size) << published.path;
    }
}

TEST(TokenizerData, BothFormsOfStoriesAgree) {
    TESSERA_SKIP_WITHOUT_SHARED("data/stories260K", "that both forms of a tokenizer agree");
    const Tokenizer json = load_tokenizer(data() / "stories260K/hf");
    const Tokenizer gguf = load_tokenizer(data() / "stories260K/stories260K.gguf");
    for (const std::string text :
         {"Once upon a time, there was a little girl named Lily.", " \n\nTom's 3 cats ½ 🦙", ""}) {
        const auto ids = json.encode(text, {.add_special = true});
        EXPECT_EQ(gguf.encode(text, {.add_special = true}), ids) << text;
        EXPECT_EQ(ids.front(), 1);
        EXPECT_EQ(json.decode(ids, {.skip_special = true}), text);
        EXPECT_EQ(gguf.decode(ids, {.skip_special = true}), text);
    }
}

TEST(TokenizerData, ChatTokensOfQwenAreOneIdEach) {
    TESSERA_SKIP_WITHOUT_SHARED("data/tokenizers/qwen2", "chat tokens of Qwen2");
    const Tokenizer tokenizer = load_tokenizer(data() / "tokenizers/qwen2");
    const std::string text = "<|im_start|>user\nHi<|im_end|>\n";
    const std::vector<TokenId> expected = {151644, 872, 198, 13048, 151645, 198};
    EXPECT_EQ(tokenizer.encode(text), expected);
    EXPECT_EQ(tokenizer.decode(expected), text);
    EXPECT_EQ(tokenizer.decode(expected, {.skip_special = true}), "user\nHi\n");
    const auto spelled = tokenizer.encode(text, {.parse_special = false});
    EXPECT_GT(spelled.size(), expected.size());
    EXPECT_EQ(tokenizer.decode(spelled), text);
}

}  // namespace
}  // namespace tessera::llm
