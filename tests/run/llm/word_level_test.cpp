#include "run/llm/word_level.h"

#include <vector>

#include <gmock/gmock.h>

#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;

std::vector<TokenId> encode_word(const Vocabulary& vocabulary, std::string_view word,
                                 std::optional<TokenId> unknown) {
    std::vector<TokenId> ids;
    WordLevel(unknown).encode(vocabulary, word, ids);
    return ids;
}

TEST(WordLevel, APieceIsOneToken) {
    Vocabulary words;
    words.add(0, "<unk>");
    words.add(1, "king");
    words.add(2, "</s>");
    EXPECT_THAT(encode_word(words, "king", 0), ElementsAre(1));
    EXPECT_THAT(encode_word(words, "kings", 0), ElementsAre(0));
    EXPECT_THAT(encode_word(words, "king", std::nullopt), ElementsAre(1));
    EXPECT_THROW(encode_word(words, "kings", std::nullopt), Error);
    words.hide(2);
    EXPECT_THAT(encode_word(words, "</s>", 0), ElementsAre(0)) << "a user's text is no special token";
}

}  // namespace
}  // namespace tessera::llm
