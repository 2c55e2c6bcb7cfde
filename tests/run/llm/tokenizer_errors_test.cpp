#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"

// Files that are incomplete, damaged or hostile: an Error that names the place, never a crash.

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const std::filesystem::path& path) {
    try {
        load_tokenizer(path);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

/// A small tokenizer.json that loads, with one section replaced.
nlohmann::json small() {
    return nlohmann::json::parse(R"({
        "version": "1.0",
        "added_tokens": [{"id": 3, "content": "<s>", "special": true}],
        "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

std::string error_of(const nlohmann::json& document) {
    const test::TemporaryFolder folder("tokenizer_errors");
    folder.write("tokenizer.json", document.dump());
    return error_of(folder.path());
}

nlohmann::json with(const char* pointer, const char* value) {
    nlohmann::json document = small();
    document[nlohmann::json::json_pointer(pointer)] = nlohmann::json::parse(value);
    return document;
}

TEST(TokenizerErrors, ASmallTokenizerLoads) {
    EXPECT_EQ(error_of(small()), "no error");
    EXPECT_EQ(error_of(with("/model/merges", R"([["a", "b"]])")), "no error");
}

TEST(TokenizerErrors, MissingFilesAreNamed) {
    const test::TemporaryFolder folder("missing");
    EXPECT_THAT(
        error_of(folder.path()),
        HasSubstr(
            "has no tokenizer: neither tokenizer.json, nor tokenizer.model, nor vocab.json with merges.txt"));
    folder.write("vocab.json", "{}");
    EXPECT_THAT(error_of(folder.path()), HasSubstr("has vocab.json but no merges.txt"));
    EXPECT_THAT(error_of(folder.path() / "absent"), HasSubstr("absent: cannot open the file"));
    EXPECT_THAT(error_of(folder.write("a.txt", "x")), HasSubstr("is neither a folder, nor a GGUF file"));
    folder.write("merges.txt", "");
    folder.write("config.json", R"({"model_type": "bert"})");
    EXPECT_THAT(error_of(folder.path()),
                HasSubstr("config.json: `model_type`: is bert: how it divides texts is not known"));
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "OwnTokenizer"})");
    EXPECT_THAT(error_of(folder.path()), HasSubstr("`tokenizer_class`: is OwnTokenizer"));
}

TEST(TokenizerErrors, UnsupportedComponentsAreNamedTogether) {
    nlohmann::json document = with("/normalizer", R"({"type": "Sequence", "normalizers": [{"type": "NFC"},
                                                     {"type": "Transliterate"}]})");
    document["decoder"] = {{"type", "CTC"}};
    document["pre_tokenizer"] = {{"type", "UnicodeScripts"}};
    document["post_processor"] = {{"type", "PairProcessing"}};
    EXPECT_THAT(
        error_of(document),
        HasSubstr("uses what is not supported: normalizer Transliterate, pre-tokenizer UnicodeScripts, "
                  "decoder CTC, post-processor PairProcessing"));
    EXPECT_THAT(error_of(with("/model", R"({"type": "Characters", "vocab": {"a": 0}})")),
                HasSubstr("`model`: is Characters, which is not supported"));
    EXPECT_THAT(error_of(with("/model", R"({"type": "Unigram", "vocab": [["a", 0.5]], "alpha": 0.1})")),
                HasSubstr("model option alpha"));
}

struct Wrong {
    const char* pointer;
    const char* value;
    const char* message;
};

TEST(TokenizerErrors, WrongSectionsAreNamed) {
    for (const Wrong& wrong : {
             Wrong{"/model", "null", "`model`: is missing"},
             Wrong{"/model", "3", "`model`: is 3, expected an object"},
             Wrong{"/model/vocab", "{}", "`model`: has no vocabulary"},
             Wrong{"/model/vocab/a", "\"x\"", "`vocab`: token \"a\" is string, which is not expected here"},
             Wrong{"/model/vocab/a", "-1", "`vocab`: token \"a\" has the id -1, expected 0 or more"},
             Wrong{"/model/vocab/a", "0.5", "`vocab`: token \"a\" is a fraction"},
             Wrong{"/model/vocab/a", "4294967296",
                   "`vocab`: token \"a\" has the id 4294967296, expected at most"},
             Wrong{"/model/vocab/b", "0", "has the id 0, which another token has too"},
             Wrong{"/model/vocab/a", "{}", "`vocab`: token \"a\" is an object, which is not expected here"},
             Wrong{"/model/merges", R"(["ab"])", "`merges`: merge 0 is \"ab\", expected two texts"},
             Wrong{"/model/merges", R"(["a b", "a x"])", "`merge 1`: joins \"a\" and \"x\""},
             Wrong{"/model/merges", R"(["b a"])", "`merge 0`: joins \"b\" and \"a\""},
             Wrong{"/model/merges", R"([["a"]])", "`merges`: merge 0 has 1 texts, expected two"},
             Wrong{"/model/merges", R"([["a", ""]])",
                   "`merges`: merge 0 has 2 texts, expected two that are not empty"},
             Wrong{"/model/merges", "[1]", "`merges`: is number, which is not expected here"},
             Wrong{"/model/unk_token", "\"zz\"",
                   "`model.unk_token`: is \"zz\", which the vocabulary does not have"},
             Wrong{"/model/vocab", R"([["a", 0.5]])", "`model.vocab`: is a list of a BPE model"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": {"a": 0}})", "is an object of a Unigram model"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": [["a", 0], ["b"]]})",
                   "`vocab`: token 1 is no list of a text and a score"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": [[0, "a"]]})", "token 0 is no list of a text"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": [["a", 0, 1]]})",
                   "token 0 is no list of a text"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": ["a", 0]})", "token 0 is no list of a text"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": []})", "`model`: has no vocabulary"},
             Wrong{"/model", R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1})",
                   "`model.unk_id`: is 1, expected an integer from 0 to 0"},
             Wrong{"/model", R"({"type": "WordPiece", "vocab": {"a": 0}})",
                   "`model.unk_token`: is \"[UNK]\", which the vocabulary does not have"},
             Wrong{"/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AAA"})",
                   "`normalizer.precompiled_charsmap`: is not in base 64"},
             Wrong{"/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AAAA"})",
                   "`normalizer.precompiled_charsmap`: has 3 bytes"},
             Wrong{"/post_processor", R"({"type": "BertProcessing", "sep": ["a", 0], "cls": [0]})",
                   "`post_processor.cls`: is [0], expected a text and an id"},
             Wrong{"/decoder", R"({"type": "BPEDecoder", "suffix": ""})", "`decoder`: has an empty suffix"},
             Wrong{"/model/dropout", "0.1", "not supported: model option dropout"},
             Wrong{"/model/byte_fallback", "1", "`model.byte_fallback`: is 1, expected true or false"},
             Wrong{"/added_tokens", "{}", "`added_tokens`: is {}, expected a list"},
             Wrong{"/added_tokens/0/id", "-1",
                   "`added_tokens[0].id`: is -1, expected an integer from 0 to 1048575"},
             Wrong{"/added_tokens/0/id", "18446744073709551615",
                   "is 18446744073709551615, expected an integer from 0 to 1048575"},
             Wrong{"/added_tokens/0/content", "null", "`added_tokens[0].content`: is missing"},
             Wrong{"/pre_tokenizer",
                   R"({"type": "Split", "pattern": {"Regex": "(["}, "behavior": "Isolated"})",
                   "is not a regular expression that can be compiled"},
             Wrong{"/pre_tokenizer",
                   R"({"type": "Split", "pattern": {"Regex": "[a-z&&]"}, "behavior": "Isolated"})",
                   "uses an intersection with nothing, which is not supported"},
             Wrong{"/pre_tokenizer",
                   R"({"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated"})",
                   "`pre_tokenizer.pattern`: is an empty text"},
             Wrong{"/pre_tokenizer", R"({"type": "Split", "pattern": {"String": "x"}, "behavior": "Up"})",
                   "`pre_tokenizer.behavior`: is \"Up\", expected Isolated"},
             Wrong{"/pre_tokenizer", R"({"type": "Metaspace", "prepend_scheme": "last"})",
                   "prepend_scheme \"last\""},
             Wrong{"/post_processor", R"({"type": "TemplateProcessing", "single": []})",
                   "has no place for the text"},
             Wrong{"/post_processor",
                   R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}],
                   "special_tokens": {}})",
                   "`post_processor.special_tokens.x`: is missing"},
             Wrong{"/post_processor",
                   R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}},
                   {"Sequence": {"id": "A"}}], "special_tokens": {"x": {"ids": [9]}}})",
                   "adds the token 9, which"},
             Wrong{"/normalizer", R"({"type": "Replace", "pattern": {"String": ""}, "content": ""})",
                   "is an empty text"},
             Wrong{"/decoder", R"({"type": "Strip", "content": " ", "start": -1, "stop": 0})",
                   "`decoder.start`: is -1"},
         })
        EXPECT_THAT(error_of(with(wrong.pointer, wrong.value)), HasSubstr(wrong.message)) << wrong.value;
}

TEST(TokenizerErrors, DeepNestingIsRefused) {
    const std::string deep = std::string(100000, '[') + std::string(100000, ']');
    EXPECT_THAT(error_of(with("/extra", "0")), "no error");
    const test::TemporaryFolder folder("deep");
    folder.write("tokenizer.json", R"({"extra": )" + deep + "}");
    EXPECT_THAT(error_of(folder.path()), HasSubstr("nested more than 64 levels deep"));
    std::string sequence = R"({"type": "NFC"})";
    for (int i = 0; i < 20; ++i) sequence = R"({"type": "Sequence", "normalizers": [)" + sequence + "]}";
    EXPECT_THAT(error_of(with("/normalizer", sequence.c_str())), HasSubstr("nests sequences too deep"));
}

TEST(TokenizerErrors, FilesLargerThanAnyRealOneAreRefused) {
    const test::TemporaryFolder folder("bounds");
    const auto error_of_extra = [&](const std::string& value) {
        folder.write("tokenizer.json",
                     R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "x": )" + value + "}");
        return error_of(folder.path());
    };
    EXPECT_THAT(error_of_extra("0"), "no error");
    EXPECT_THAT(error_of_extra('"' + std::string((4 << 20) + 1, 'x') + '"'),
                HasSubstr("holds a word, or blanks, of more than 4194304 bytes"));
    std::string many = "[0";
    for (int i = 0; i < 1'000'000; ++i) many += ",0";
    EXPECT_THAT(error_of_extra(many + "]"), HasSubstr("holds more than the 1000000 values that are read"));
    EXPECT_THAT(error_of_extra(R"({"y": 1, "y": 2})"), HasSubstr("`y`: is there twice in one object"));
}

TEST(TokenizerErrors, UnknownIdsAreNamed) {
    const Tokenizer tokenizer = load_tokenizer(test::fixtures() / "gpt2");
    for (const TokenId id : {-1, static_cast<int>(tokenizer.vocabulary_size()), INT32_MAX, INT32_MIN}) {
        EXPECT_THROW(tokenizer.decode(std::vector<TokenId>{0, id}), Error) << id;
        EXPECT_THROW(tokenizer.token_bytes(id), Error) << id;
    }
}

TEST(TokenizerErrors, APatternThatNeverFinishesIsCutOff) {
    const test::TemporaryFolder folder("pattern");
    folder.write("tokenizer.json",
                 with("/pre_tokenizer",
                      R"({"type": "Split", "pattern": {"Regex": "(x+x+)+[yz]"}, "behavior": "Isolated"})")
                     .dump());
    const Tokenizer tokenizer = load_tokenizer(folder.path());
    EXPECT_EQ(tokenizer.encode("ab"), std::vector<TokenId>{2});
    try {
        tokenizer.encode(std::string(60, 'x'));
        FAIL() << "an exponential pattern finished";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("`(x+x+)+[yz]`: cannot be matched against this text: match limit exceeded"));
    }
}

class DamagedTokenizer : public ::testing::TestWithParam<const char*> {};

/// Loads a possibly damaged tokenizer and uses it; only Errors are expected, everything else fails the test.
void load_and_use(const std::filesystem::path& path) {
    try {
        const Tokenizer tokenizer = load_tokenizer(path);
        tokenizer.decode(tokenizer.encode("The king's 12 ½ 🦙 \xff <s>", {.add_special = true}));
    } catch (const Error&) {
    }
}

TEST_P(DamagedTokenizer, TruncationsAreErrors) {
    const std::string whole = test::read_file(test::fixtures() / GetParam() / "tokenizer.json");
    const test::TemporaryFolder folder("truncated");
    for (size_t size = 0; size + 2 < whole.size(); size += 1 + whole.size() / 100) {
        const auto path = folder.write("tokenizer.json", std::string_view(whole).substr(0, size));
        EXPECT_THROW(load_tokenizer(path), Error) << size;
    }
}

TEST_P(DamagedTokenizer, FlippedBitsDoNotCrash) {
    const std::string whole = test::read_file(test::fixtures() / GetParam() / "tokenizer.json");
    const test::TemporaryFolder folder("flipped");
    std::mt19937 random(7);
    for (int round = 0; round < 150; ++round) {
        std::string damaged = whole;
        // Half of them where the components are, not in the long vocabulary.
        const size_t reach = round % 2 == 0 ? damaged.size() : std::min<size_t>(damaged.size(), 2000);
        damaged[random() % reach] ^= static_cast<char>(1 << (random() % 8));
        load_and_use(folder.write("tokenizer.json", damaged));
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, DamagedTokenizer, ::testing::Values("llama3", "llama2", "smollm"),
                         [](const auto& test_info) { return std::string(test_info.param); });

}  // namespace
}  // namespace tessera::llm
