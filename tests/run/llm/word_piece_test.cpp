#include "run/llm/word_piece.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;

Vocabulary vocabulary_of(const std::vector<std::string>& texts) {
    Vocabulary vocabulary;
    for (const std::string& text : texts) vocabulary.add(static_cast<TokenId>(vocabulary.size()), text);
    return vocabulary;
}

std::vector<TokenId> encode(const Vocabulary& vocabulary, std::string_view word,
                            WordPieceOptions options = {}) {
    std::vector<TokenId> ids;
    WordPiece(vocabulary, std::move(options)).encode(vocabulary, word, ids);
    return ids;
}

TEST(WordPiece, TakesTheLongestTokenAtEveryPlace) {
    const Vocabulary words =
        vocabulary_of({"[UNK]", "un", "una", "##aff", "##able", "##a", "##ff", "##", "\u00e9"});
    EXPECT_THAT(encode(words, "unaffable"), ElementsAre(2, 6, 4)) << "greedy, though un ##aff ##able exists";
    EXPECT_THAT(encode(words, "una"), ElementsAre(2));
    EXPECT_THAT(encode(words, "##a"), ElementsAre(5)) << "a word may begin so";
    EXPECT_THAT(encode(words,
                       "\u00e9"
                       "a"),
                ElementsAre(8, 5));
    EXPECT_THAT(encode(words, ""), ElementsAre());
}

TEST(WordPiece, AWordThatIsNotCoveredIsOneUnknownToken) {
    const Vocabulary words = vocabulary_of({"[UNK]", "a", "##a"});
    EXPECT_THAT(encode(words, "aab"), ElementsAre(0));
    EXPECT_THAT(encode(words, "baa"), ElementsAre(0));
    EXPECT_THAT(encode(words, "aaaa", {.longest_word = 4}), ElementsAre(1, 2, 2, 2));
    EXPECT_THAT(encode(words, "aaaaa", {.longest_word = 4}), ElementsAre(0));
    EXPECT_THAT(encode(words, "a\xff"), ElementsAre(0));
}

TEST(WordPiece, OtherPrefixesAndHiddenTokens) {
    Vocabulary words = vocabulary_of({"?", "ab", "a", "b"});
    EXPECT_THAT(encode(words, "abab", {.continuing_prefix = ""}), ElementsAre(1, 1));
    words.hide(1);
    EXPECT_THAT(encode(words, "abab", {.continuing_prefix = ""}), ElementsAre(2, 3, 2, 3));
}

}  // namespace
}  // namespace tessera::llm
