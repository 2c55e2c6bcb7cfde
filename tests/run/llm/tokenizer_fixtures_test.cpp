#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/text_stream.h"
#include "run/llm/utf8_stream.h"

// Small tokenizers of every supported kind, shipped with the tests; their ids come from the `tokenizers`
// library (tests/run/llm/data/make_tokenizers.py).

namespace tessera::llm {
namespace {

class TokenizerFixture : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerFixture, GivesTheExpectedIdsAndTexts) {
    const auto folder = test::fixtures() / GetParam();
    const Tokenizer tokenizer = load_tokenizer(folder);
    const nlohmann::json cases = test::read_json(folder / "cases.json");
    ASSERT_GE(cases.size(), 60u);
    for (const auto& item : cases) {
        const auto text = item.at("text").get<std::string>();
        const auto ids = item.at("ids").get<std::vector<TokenId>>();
        EXPECT_EQ(tokenizer.encode(text), ids) << item;
        EXPECT_EQ(tokenizer.decode(ids), item.at("decoded").get<std::string>()) << item;
        if (item.contains("ids_with_special")) {
            EXPECT_EQ(tokenizer.encode(text, {.add_special = true}),
                      item.at("ids_with_special").get<std::vector<TokenId>>())
                << item;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, TokenizerFixture,
                         ::testing::Values("gpt2", "llama3", "smollm", "qwen2", "llama2", "metaspace",
                                           "unigram", "unigram_bytes", "word_piece", "bpe_words"),
                         [](const auto& test_info) { return std::string(test_info.param); });

TEST(TokenizerFixtures, SpecialTokensAreKnown) {
    const Tokenizer llama3 = load_tokenizer(test::fixtures() / "llama3");
    EXPECT_TRUE(llama3.adds_bos());
    EXPECT_EQ(llama3.bos(), llama3.find("<|begin|>"));
    EXPECT_TRUE(llama3.is_special(*llama3.bos()));
    EXPECT_FALSE(llama3.is_special(0));
    EXPECT_EQ(llama3.added_tokens().size(), 2u);

    const Tokenizer qwen2 = load_tokenizer(test::fixtures() / "qwen2");
    EXPECT_FALSE(qwen2.adds_bos());
    EXPECT_EQ(qwen2.bos(), std::nullopt);
    EXPECT_EQ(qwen2.eos(), std::vector<TokenId>{*qwen2.find("<|end|>")});
    EXPECT_EQ(qwen2.vocabulary_size(), 422u);
}

TEST(TokenizerFixtures, SpecialTokensInATextAreTextWhenAskedFor) {
    const Tokenizer tokenizer = load_tokenizer(test::fixtures() / "llama3");
    const auto parsed = tokenizer.encode("<|begin|>a");
    EXPECT_EQ(parsed.size(), 2u);
    const auto spelled = tokenizer.encode("<|begin|>a", {.parse_special = false});
    EXPECT_GT(spelled.size(), 2u);
    EXPECT_EQ(tokenizer.decode(spelled), "<|begin|>a");
    EXPECT_EQ(tokenizer.decode(parsed), "<|begin|>a");
    EXPECT_EQ(tokenizer.decode(parsed, {.skip_special = true}), "a");
}

TEST(TokenizerFixtures, NoModelMakesASpecialTokenOfText) {
    // WordPiece and Unigram look for whole tokens, and normalisers may spell one only now.
    for (const char* name : {"unigram", "unigram_bytes", "word_piece", "bpe_words", "llama2", "metaspace"}) {
        const Tokenizer tokenizer = load_tokenizer(test::fixtures() / name);
        std::string spelled;
        for (const AddedToken& token : tokenizer.added_tokens())
            if (token.special) spelled += token.content + " " + token.content + "\uff1cs\uff1e";
        const std::optional<TokenId> unknown =
            tokenizer.find(tokenizer.find("[UNK]") ? "[UNK]" : "<unk>");  // stands for what has no token
        for (const bool parse_special : {false, true}) {
            size_t special = 0;
            for (const TokenId id : tokenizer.encode(spelled, {.parse_special = parse_special}))
                special += tokenizer.is_special(id) && id != unknown ? 1 : 0;
            EXPECT_EQ(special > 0, parse_special) << name;
        }
    }
}

TEST(TokenizerFixtures, AStreamOfTokensIsTheDecodedText) {
    for (const char* name : {"unigram", "unigram_bytes", "word_piece", "bpe_words", "spm_unigram",
                             "spm_bytes", "metaspace", "llama2"}) {
        const Tokenizer tokenizer = load_tokenizer(test::fixtures() / name);
        std::mt19937 random(3);
        for (int round = 0; round < 500; ++round) {
            std::vector<TokenId> ids(random() % 6);
            for (TokenId& id : ids) id = static_cast<TokenId>(random() % tokenizer.vocabulary_size());
            TextStream stream(tokenizer, {}, true);
            std::string text;
            for (const TokenId id : ids) text += stream.push(id);
            text += stream.finish();
            Utf8Stream whole;  // bytes that are no text become U+FFFD in both
            std::string expected = whole.push(tokenizer.decode(ids));
            expected += whole.finish();
            EXPECT_EQ(text, expected) << name;
        }
    }
}

TEST(TokenizerFixtures, ConfigurationBesideTheTokenizerNamesBosAndEos) {
    const test::TemporaryFolder folder("tokenizer_config");
    const auto tokenizer_json = test::read_file(test::fixtures() / "llama3/tokenizer.json");
    folder.write("tokenizer.json", tokenizer_json);
    folder.write("config.json",
                 R"({"bos_token_id": 7, "eos_token_id": [5, 3, 1000000, -1], "model_type": "llama"})");
    folder.write("generation_config.json", R"({"eos_token_id": 4})");
    EXPECT_EQ(load_tokenizer(folder.path()).bos(), 420) << "the template comes before config.json";
    EXPECT_EQ(load_tokenizer(folder.path()).eos(), (std::vector<TokenId>{3, 4, 5}));

    folder.write("tokenizer_config.json",
                 R"({"bos_token": {"content": "<|end|>"}, "eos_token": "<|begin|>"})");
    EXPECT_EQ(load_tokenizer(folder.path()).bos(), 421);
    EXPECT_EQ(load_tokenizer(folder.path()).eos(), (std::vector<TokenId>{3, 4, 5, 420}));
    EXPECT_FALSE(load_tokenizer(folder.path()).adds_bos());
}

TEST(TokenizerFixtures, VocabularyAndMergesNeedTheClassOnlyWhereItIsNotGpt2) {
    const test::TemporaryFolder folder("vocab_merges");
    for (const char* name : {"vocab.json", "merges.txt"})
        folder.write(name, test::read_file(test::fixtures() / "qwen2" / name));
    const std::string text = "It'S 12 a\u030a";
    const Tokenizer gpt2 = load_tokenizer(folder.path());
    EXPECT_EQ(gpt2.decode(gpt2.encode(text)), text) << "GPT-2 does not normalise";
    folder.write("config.json", R"({"model_type": "qwen3"})");
    const Tokenizer qwen3 = load_tokenizer(folder.path());
    EXPECT_EQ(qwen3.decode(qwen3.encode(text)), "It'S 12 \u00e5");
    folder.write(
        "tokenizer_config.json",
        R"({"tokenizer_class": "GPT2TokenizerFast", "add_bos_token": true, "bos_token": "T", "eos_token": "h",
                     "add_eos_token": true, "add_prefix_space": true})");
    const Tokenizer configured = load_tokenizer(folder.path());
    EXPECT_EQ(configured.decode(configured.encode("king", {.add_special = true})), "T kingh");
}

}  // namespace
}  // namespace tessera::llm
