#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/byte_level_patterns.h"
#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/sentence_piece_model.h"
#include "support/error.h"

// The shipped fixtures, written as GGUF files by the test: the same ids must come out.

namespace tessera::llm {
namespace {

using test::GgufBuilder;
using ::testing::HasSubstr;

constexpr uint32_t kByte = 0;
constexpr uint32_t kInteger = 5;
constexpr uint32_t kFloat = 6;

struct Fixture {
    nlohmann::json cases;
    std::vector<std::string> tokens;
    std::vector<int32_t> types;
    std::vector<std::string> merges;
    std::vector<float> scores;
};

Fixture read_fixture(const std::string& name) {
    Fixture fixture;
    const auto folder = test::fixtures() / name;
    const nlohmann::json document = test::read_json(folder / "tokenizer.json");
    fixture.cases = test::read_json(folder / "cases.json");
    fixture.tokens = test::tokens_of(document);
    fixture.types.assign(fixture.tokens.size(), 1);
    for (size_t id = 0; id < fixture.tokens.size(); ++id) {
        if (fixture.tokens[id].starts_with("<0x")) fixture.types[id] = 6;
        fixture.scores.push_back(-static_cast<float>(id));
    }
    for (const auto& added : document.at("added_tokens"))
        fixture.types[added.at("id")] = added.at("special") ? 3 : 4;
    for (const auto& merge : document.at("model").at("merges"))
        fixture.merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
    return fixture;
}

GgufBuilder byte_level(const Fixture& fixture, const std::string& pre) {
    return GgufBuilder()
        .string("tokenizer.ggml.model", "gpt2")
        .string("tokenizer.ggml.pre", pre)
        .strings("tokenizer.ggml.tokens", fixture.tokens)
        .numbers("tokenizer.ggml.token_type", kInteger, fixture.types)
        .strings("tokenizer.ggml.merges", fixture.merges);
}

GgufBuilder pieces(const Fixture& fixture) {
    return GgufBuilder()
        .string("tokenizer.ggml.model", "llama")
        .strings("tokenizer.ggml.tokens", fixture.tokens)
        .numbers("tokenizer.ggml.token_type", kInteger, fixture.types)
        .numbers("tokenizer.ggml.scores", kFloat, fixture.scores)
        .u32("tokenizer.ggml.unknown_token_id", 0);
}

GgufBuilder sentence_piece(const Fixture& fixture) {
    return pieces(fixture).u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
}

Tokenizer load(const GgufBuilder& builder) {
    const test::TemporaryFolder folder("gguf");
    return load_tokenizer(folder.write("model.gguf", builder.build()));
}

std::string error_of(const GgufBuilder& builder) {
    try {
        load(builder);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

void expect_cases(const Tokenizer& tokenizer, const nlohmann::json& cases) {
    for (const auto& item : cases) {
        const auto ids = item.at("ids").get<std::vector<TokenId>>();
        EXPECT_EQ(tokenizer.encode(item.at("text").get<std::string>()), ids) << item;
        EXPECT_EQ(tokenizer.decode(ids), item.at("decoded").get<std::string>()) << item;
    }
}

TEST(GgufTokenizer, ByteLevelAgreesWithTheJsonForm) {
    const Fixture llama3 = read_fixture("llama3");
    const Tokenizer tokenizer = load(byte_level(llama3, "llama-bpe")
                                         .u32("tokenizer.ggml.bos_token_id", 420)
                                         .u32("tokenizer.ggml.eos_token_id", 421)
                                         .u32("tokenizer.ggml.eot_token_id", 7)
                                         .u32("tokenizer.ggml.eom_token_id", 0xffffffff));
    expect_cases(tokenizer, llama3.cases);
    EXPECT_TRUE(tokenizer.adds_bos()) << "the default of llama-bpe";
    EXPECT_EQ(tokenizer.eos(), (std::vector<TokenId>{7, 421}));
    const Fixture smollm = read_fixture("smollm");
    expect_cases(load(byte_level(smollm, "smollm")), smollm.cases);
}

/// Expected: the expressions of the families' tokenizer.json in the package `tokenizers`
/// (bench/tokenizers/compare.py).
TEST(GgufTokenizer, NamedDivisionsAreThoseOfTheFamilies) {
    const std::string text = "HelloWorld's 1234567 don't\n\n  \u6f22\u5b57\u304b\u306a\u3001e\u0301a -=x!";
    const std::map<std::string, std::string> expected = {
        {"gpt-4o",
         "Hello|World's| |123|456|7| don't|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e\u0301a| -=|x|!"},
        {"tekken",
         "Hello|World|'s| |1|2|3|4|5|6|7| don|'t|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e\u0301a| -=|x|!"},
        {"deepseek-v3",
         "HelloWorld|'s| |123|456|7| don|'t|\n\n|  |\u6f22\u5b57\u304b\u306a|\u3001|e\u0301a| -=|x|!"},
        {"deepseek-coder",
         "HelloWorld|'|s| |1|2|3|4|5|6|7| don|'|t|\n|\n| | |\u6f22\u5b57\u304b\u306a|\u3001|e|\u0301|a| "
         "-|=|x|!"},
        {"glm4",
         "HelloWorld|'s| |123|456|7| don|'t|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e|\u0301a| -=|x|!"},
        {"qwen35",
         "HelloWorld|'s| |1|2|3|4|5|6|7| don|'t|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e\u0301a| -=|x|!"},
        {"kimi-k2",
         "Hello|World's| |123|456|7| don't|\n\n| | |\u6f22\u5b57|\u304b\u306a|\u3001e\u0301a| -=|x|!"},
        {"tiny_aya",
         "Hello|World's| |1|234|567| don't|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e\u0301a| -=|x|!"},
        {"bloom", "HelloWorld's| 1234567| don't|\n\n | \u6f22\u5b57\u304b\u306a|\u3001|e\u0301a| -=x|!"},
        {"bailingmoe",
         "HelloWorld|'s| |1|2|3|4|5|6|7| don|'t|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e|\u0301a| -=|x|!"},
        {"seed-coder",
         "HelloWorld|'s| |1|2|3|4|5|6|7| don|'t|\n\n| | \u6f22\u5b57\u304b\u306a|\u3001e|\u0301a| -=|x|!"},
    };
    for (const auto& [name, pieces] : expected) {
        std::vector<PreTokenizerStep> steps = byte_level_steps(byte_pre_tokenizer(name)->patterns, false);
        steps.pop_back();  // the byte alphabet
        const Pieces found = pre_tokenize(steps, text, true);
        std::string joined;
        for (size_t i = 0; i < found.ranges.size(); ++i)
            joined += (i > 0 ? "|" : "") + std::string(found.piece(i));
        EXPECT_EQ(joined, pieces) << name;
    }
    for (const std::string_view name : byte_pre_tokenizer_names())
        EXPECT_NO_THROW((void)byte_level_steps(byte_pre_tokenizer(name)->patterns, false)) << name;
}

/// SentencePiece's form with a list of merges: spaces are marks, and bytes stand for what the vocabulary
/// lacks.
TEST(GgufTokenizer, MarkedSpacesWithMerges) {
    std::vector<std::string> tokens = {"<unk>", "<bos>", "\u2581", "a", "b", "\u2581a", "ab", "\n"};
    std::vector<int32_t> types = {3, 3, 1, 1, 1, 1, 1, 1};
    for (int byte = 0; byte < 256; ++byte) {
        tokens.push_back(fmt::format("<0x{:02X}>", byte));
        types.push_back(6);
    }
    const auto file = [&](const char* model, const char* pre) {
        GgufBuilder builder;
        builder.string("tokenizer.ggml.model", model)
            .strings("tokenizer.ggml.tokens", tokens)
            .numbers("tokenizer.ggml.token_type", kInteger, types)
            .strings("tokenizer.ggml.merges", {"\u2581 a", "a b"})
            .u32("tokenizer.ggml.unknown_token_id", 0);
        if (*pre) builder.string("tokenizer.ggml.pre", pre);
        return builder;
    };
    for (const auto& [model, pre] : {std::pair{"gemma4", ""}, {"gpt2", "gemma4"}, {"gpt2", "sarvam-moe"}}) {
        const Tokenizer tokenizer = load(file(model, pre));
        const std::vector<TokenId> ids = {3, 5, 4, 7, 6, 8 + 0xc3, 8 + 0xa9};
        EXPECT_EQ(tokenizer.encode("a ab\nab\u00e9"),
                  (std::vector<TokenId>{3, 5, 4, 7, 6, 8 + 0xc3, 8 + 0xa9}))
            << model << " " << pre;
        EXPECT_EQ(tokenizer.decode(ids), "a ab\nab\u00e9");
    }
}

TEST(GgufTokenizer, ControlTokensWithTheTextOfAnEndAreEnds) {
    const Tokenizer tokenizer =
        load(GgufBuilder()
                 .string("tokenizer.ggml.model", "gpt2")
                 .string("tokenizer.ggml.pre", "smollm")
                 .strings("tokenizer.ggml.tokens",
                          {"a", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|eot_id|>"})
                 .numbers<int32_t>("tokenizer.ggml.token_type", kInteger, {1, 3, 3, 3, 1})
                 .strings("tokenizer.ggml.merges", {})
                 .u32("tokenizer.ggml.bos_token_id", 2)
                 .u32("tokenizer.ggml.eos_token_id", 3));
    EXPECT_EQ(tokenizer.eos(), (std::vector<TokenId>{1, 3}));
}

TEST(GgufTokenizer, SentencePieceAgreesWithTheJsonForm) {
    const Fixture fixture = read_fixture("llama2");
    const Tokenizer tokenizer = load(sentence_piece(fixture));
    expect_cases(tokenizer, fixture.cases);
    EXPECT_EQ(tokenizer.encode("The", {.add_special = true}).front(), 1) << "BOS is the default";
    EXPECT_EQ(load(sentence_piece(fixture).boolean("tokenizer.ggml.add_bos_token", false)).adds_bos(), false);
    const Tokenizer with_eos = load(sentence_piece(fixture).boolean("tokenizer.ggml.add_eos_token", true));
    EXPECT_EQ(with_eos.encode("The", {.add_special = true}).back(), 2);
    EXPECT_EQ(with_eos.encode_prompt("The", false), tokenizer.encode("The", {.add_special = true}))
        << "the text goes on";
}

/// The keys that a converter writes for a `tokenizer.model` with the Unigram algorithm.
GgufBuilder unigram(const SentencePieceModel& model) {
    std::vector<std::string> tokens;
    std::vector<int32_t> types;
    for (size_t id = 0; id < model.types.size(); ++id) {
        tokens.emplace_back(model.vocabulary.text(static_cast<TokenId>(id)));
        types.push_back(static_cast<int32_t>(model.types[id]));
    }
    GgufBuilder file;
    file.string("tokenizer.ggml.model", "t5").strings("tokenizer.ggml.tokens", tokens);
    file.numbers("tokenizer.ggml.token_type", kInteger, types);
    file.numbers("tokenizer.ggml.scores", kFloat, model.scores);
    file.numbers("tokenizer.ggml.precompiled_charsmap", kByte,
                 std::vector<uint8_t>(model.character_map.begin(), model.character_map.end()));
    file.boolean("tokenizer.ggml.add_space_prefix", model.add_dummy_prefix);
    file.boolean("tokenizer.ggml.remove_extra_whitespaces", model.remove_extra_whitespaces);
    return file.u32("tokenizer.ggml.eos_token_id", 2);
}

TEST(GgufTokenizer, UnigramAgreesWithTheLibraryOfItsModel) {
    const auto folder = test::fixtures() / "spm_unigram";
    const SentencePieceModel model =
        read_sentence_piece_model(test::read_file(folder / "tokenizer.model"), "tokenizer.model");
    const Tokenizer tokenizer = load(unigram(model));
    const nlohmann::json cases = test::read_json(folder / "cases.json");
    ASSERT_GT(cases.size(), 50u);
    for (const auto& item : cases)
        EXPECT_EQ(tokenizer.encode(item.at("text").get<std::string>(), {.parse_special = false}),
                  item.at("ids").get<std::vector<TokenId>>())
            << item;
    EXPECT_EQ(tokenizer.encode("king", {.add_special = true}).back(), 2) << "EOS is the default";
    EXPECT_FALSE(tokenizer.adds_bos());

    SentencePieceModel odd = model;
    odd.types[5] = static_cast<SentencePieceModel::Type>(9);
    EXPECT_THAT(error_of(unigram(odd)), HasSubstr("`tokenizer.ggml.token_type`: element 5 is 9, expected"));
    odd = model;
    odd.character_map.resize(7);
    EXPECT_THAT(error_of(unigram(odd)), HasSubstr("`tokenizer.ggml.precompiled_charsmap`: "));
}

/// The spelling of ggml: a mark where a word begins, none where it goes on.
GgufBuilder word_piece() {
    const nlohmann::json document = test::read_json(test::fixtures() / "word_piece" / "tokenizer.json");
    std::vector<std::string> tokens = test::tokens_of(document);
    std::vector<int32_t> types(tokens.size(), 1);
    for (const auto& added : document.at("added_tokens")) types[added.at("id")] = 3;
    for (size_t id = 0; id < tokens.size(); ++id) {
        if (types[id] == 3) continue;
        tokens[id] = tokens[id].starts_with("##") ? tokens[id].substr(2) : "\u2581" + tokens[id];
    }
    GgufBuilder file;
    file.string("tokenizer.ggml.model", "bert").strings("tokenizer.ggml.tokens", tokens);
    return file.numbers("tokenizer.ggml.token_type", kInteger, types);
}

TEST(GgufTokenizer, WordPieceAgreesWithTheJsonForm) {
    const nlohmann::json cases = test::read_json(test::fixtures() / "word_piece" / "cases.json");
    const Tokenizer tokenizer = load(word_piece());
    expect_cases(tokenizer, cases);
    EXPECT_EQ(tokenizer.encode("", {.add_special = true}), (std::vector<TokenId>{2, 3})) << "CLS and SEP";
    EXPECT_EQ(load(word_piece().boolean("tokenizer.ggml.add_bos_token", false)).adds_bos(), false);
}

TEST(GgufTokenizer, WordPieceKeepsTheCaseOfAVocabularyWithCapitals) {
    const auto file = [](const std::string& word) {
        GgufBuilder builder;
        builder.string("tokenizer.ggml.model", "bert");
        builder.strings("tokenizer.ggml.tokens", {"[UNK]", "\u2581king", "s", "\u2581" + word});
        return builder.numbers<int32_t>("tokenizer.ggml.token_type", kInteger, {3, 1, 1, 1});
    };
    EXPECT_EQ(load(file("x")).encode("Kings"), (std::vector<TokenId>{1, 2}));
    EXPECT_EQ(load(file("X")).encode("Kings"), (std::vector<TokenId>{0}));
    EXPECT_EQ(load(file("X").boolean("tokenizer.ggml.normalizer.lowercase", true)).encode("Kings"),
              (std::vector<TokenId>{1, 2}));
    EXPECT_THAT(error_of(GgufBuilder()
                             .string("tokenizer.ggml.model", "bert")
                             .strings("tokenizer.ggml.tokens", {"\u2581a"})),
                HasSubstr("`tokenizer.ggml.unknown_token_id`: is missing"));
}

TEST(GgufTokenizer, TheSpaceInFrontCanBeTurnedOff) {
    const Fixture fixture = read_fixture("llama2");
    const Tokenizer tokenizer =
        load(sentence_piece(fixture).boolean("tokenizer.ggml.add_space_prefix", false));
    const auto ids = tokenizer.encode("king");
    EXPECT_EQ(tokenizer.decode(ids), "king");
    EXPECT_EQ(tokenizer.token_bytes(ids.front()).front(), 'k');
    EXPECT_EQ(
        load(sentence_piece(fixture)).token_bytes(load(sentence_piece(fixture)).encode("king").front())[0],
        ' ');
}

TEST(GgufTokenizer, MergesOfTokensThatAreGoneAreIgnored) {
    Fixture fixture = read_fixture("llama3");
    fixture.merges.push_back("absent absent");
    expect_cases(load(byte_level(fixture, "llama3")), fixture.cases);
}

TEST(GgufTokenizer, SpecialIdsThatAreNoTokensAreNone) {
    const Fixture fixture = read_fixture("llama2");
    const auto count = static_cast<uint32_t>(fixture.types.size());
    for (const uint32_t id : {count, 0xffffffffU}) {
        GgufBuilder file = pieces(fixture);
        file.u32("tokenizer.ggml.bos_token_id", id).u32("tokenizer.ggml.eos_token_id", id);
        const Tokenizer tokenizer = load(file);
        EXPECT_EQ(tokenizer.bos(), std::nullopt);
        EXPECT_EQ(tokenizer.eos(), std::vector<TokenId>{2}) << "</s>, by its text";
    }
    GgufBuilder list = pieces(fixture);
    list.numbers<int32_t>("tokenizer.ggml.eos_token_id", 5, {-1, 2, 1});
    EXPECT_EQ(load(list).eos(), (std::vector<TokenId>{1, 2}));
}

TEST(GgufTokenizer, WhatIsMissingOrWrongIsNamed) {
    const Fixture fixture = read_fixture("llama3");
    EXPECT_THAT(error_of(GgufBuilder().u32("general.alignment", 32)),
                HasSubstr("`tokenizer.ggml.tokens`: is missing"));
    EXPECT_THAT(
        error_of(byte_level(fixture, "own-words")),
        HasSubstr("`tokenizer.ggml.pre`: is \"own-words\", which is not supported (supported are gpt-2, "));
    EXPECT_THAT(
        error_of(
            GgufBuilder().string("tokenizer.ggml.model", "rwkv").strings("tokenizer.ggml.tokens", {"a"})),
        HasSubstr("`tokenizer.ggml.model`: is \"rwkv\", which is not supported (supported are gpt2"));
    EXPECT_THAT(
        error_of(
            GgufBuilder().string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a"})),
        HasSubstr("`tokenizer.ggml.merges`: is missing"));
    EXPECT_THAT(
        error_of(
            GgufBuilder().string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", {"a"})),
        HasSubstr("`tokenizer.ggml.scores`: is missing"));

    Fixture damaged = fixture;
    damaged.types.pop_back();
    EXPECT_THAT(error_of(byte_level(damaged, "gpt-2")), HasSubstr("has 421 elements for 422 tokens"));
    damaged = fixture;
    damaged.merges[3] = "nothing";
    EXPECT_THAT(error_of(byte_level(damaged, "gpt-2")), HasSubstr("element 3 is \"nothing\""));
    damaged = read_fixture("llama2");
    damaged.scores[7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(error_of(sentence_piece(damaged)), HasSubstr("`tokenizer.ggml.scores`: element 7 is nan"));
    damaged.scores.pop_back();
    EXPECT_THAT(error_of(sentence_piece(damaged)), HasSubstr("`tokenizer.ggml.scores`: has "));
}

}  // namespace
}  // namespace tessera::llm
