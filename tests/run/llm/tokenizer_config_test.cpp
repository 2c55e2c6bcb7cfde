#include "run/llm/tokenizer_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Bytes of the letters, and one added token whose characters stand for other bytes.
constexpr const char* kTokenizer =
    R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "<": 3, ">": 4}, "merges": []},
"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}, "decoder": {"type": "ByteLevel"},
"added_tokens": [{"id": 5, "content": "\u0120a", "special": false, "normalized": false}]})";

Tokenizer with(const std::string& config, const std::string& map = "{}") {
    const test::TemporaryFolder folder("tokenizer_config");
    folder.write("tokenizer.json", kTokenizer);
    folder.write("tokenizer_config.json", config);
    folder.write("special_tokens_map.json", map);
    return load_tokenizer(folder.path());
}

// Expected: transformers 5.24.
TEST(TokenizerConfig, SpecialTokensThatNoFileGivesAnIdGetTheNextOnes) {
    EXPECT_THAT(with(R"({"eos_token": "<c>"})").encode("a<c>"), ElementsAre(0, 6));
    EXPECT_THAT(with(R"({"additional_special_tokens": ["<b>", "<c>"]})").encode("<c>a<b>"),
                ElementsAre(7, 0, 6));
    EXPECT_THAT(with("{}", R"({"eos_token": {"content": "<b>"}})").encode("<b>"), ElementsAre(6));
    // By their roles: BOS before EOS before the token that fills up.
    const Tokenizer roles = with(
        R"({"pad_token": "<p>", "eos_token": "<e>", "bos_token": "<b>", "an_token": "<a>", "unk_token": "a"})");
    EXPECT_THAT(roles.encode("<b><e><p><a>a", {.add_special = false}), ElementsAre(6, 7, 8, 9, 0));
    EXPECT_THAT(roles.eos(), ElementsAre(7));
}

TEST(TokenizerConfig, SpecialTokensAsPiecesAreRefused) {
    try {
        (void)with(R"({"split_special_tokens": true})");
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("`split_special_tokens`: is true, which is not supported"));
    }
    EXPECT_THAT(with(R"({"split_special_tokens": false})").encode("a"), ElementsAre(0));
}

TEST(TokenizerConfig, AnAddedTokenOfTheByteAlphabetIsDecodedToItsBytes) {
    const Tokenizer tokenizer = with("{}");
    EXPECT_THAT(tokenizer.encode("b\u0120a"), ElementsAre(1, 5));
    EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{1, 5}), "b a");
}

}  // namespace
}  // namespace tessera::llm
