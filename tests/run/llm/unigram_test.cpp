#include "run/llm/unigram.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "run/llm/utf8.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Scored {
    std::string text;
    double score;
};

struct Model {
    Model(const std::vector<Scored>& tokens, UnigramOptions options) {
        std::vector<double> scores;
        for (const Scored& token : tokens) {
            vocabulary.add(static_cast<TokenId>(scores.size()), token.text);
            scores.push_back(token.score);
        }
        unigram.emplace_back(vocabulary, std::move(scores), std::move(options));
    }
    std::vector<TokenId> encode(std::string_view text) const {
        std::vector<TokenId> ids;
        unigram.front().encode(vocabulary, text, ids);
        return ids;
    }
    Vocabulary vocabulary;
    std::vector<Unigram> unigram;
};

UnigramOptions unknown_is_0(double score) {
    UnigramOptions options;
    options.unknown = 0;
    options.unknown_score = score;
    return options;
}

TEST(Unigram, TakesTheBestSum) {
    const Model model({{"<unk>", 0},
                       {"a", 0},
                       {"b", 0},
                       {"c", 0},
                       {"d", 0},
                       {"cd", 1},
                       {"ab", 2},
                       {"abc", 5},
                       {"abcd", 10}},
                      unknown_is_0(-10));
    EXPECT_THAT(model.encode("abcdacdxx"), ElementsAre(8, 1, 5, 0));
    EXPECT_THAT(model.encode("abcab"), ElementsAre(7, 6));
    EXPECT_THAT(model.encode(""), ElementsAre());
}

TEST(Unigram, UnknownCharactersJoinEvenWithTheSpelledToken) {
    const Model model({{"<unk>", 0}, {"a", -1}, {"\u00e9", -1}}, unknown_is_0(-11));
    EXPECT_THAT(model.encode("xya\u00e9\u4e00"), ElementsAre(0, 1, 2, 0));
    EXPECT_THAT(model.encode("x<unk>y"), ElementsAre(0));
    EXPECT_THAT(model.encode("\xff\xfe"
                             "a"),
                ElementsAre(0, 1))
        << "bytes that are no text";
}

TEST(Unigram, UnknownCharactersBecomeBytesWhereAllHaveATokens) {
    UnigramOptions options = unknown_is_0(-10);
    options.byte_tokens.emplace();
    options.byte_tokens->fill(-1);
    (*options.byte_tokens)[0xc3] = 1;
    (*options.byte_tokens)[0xa9] = 2;
    const Model model({{"<unk>", 0}, {"<0xC3>", -99}, {"<0xA9>", -99}, {"a", -1}}, options);
    EXPECT_THAT(model.encode("a\u00e9"), ElementsAre(3, 1, 2));
    EXPECT_THAT(model.encode("a\u00e8"), ElementsAre(3, 0)) << "0xA8 has no token";
}

TEST(Unigram, HiddenTokensAndThoseWithoutScoreAreNotMade) {
    Model model({{"<unk>", 0}, {"a", -1}, {"aa", std::numeric_limits<double>::quiet_NaN()}, {"aaa", 0}},
                unknown_is_0(-9));
    EXPECT_THAT(model.encode("aaaaa"), ElementsAre(1, 1, 3)) << "of equal sums the one that was found first";
    model.vocabulary.hide(3);
    EXPECT_THAT(model.encode("aaaaa"), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Unigram, AnUnknownCharacterWithoutTokenIsAnError) {
    const Model model({{"a", -1}}, {});
    EXPECT_THAT(model.encode("aa"), ElementsAre(0, 0));
    try {
        model.encode("a\u00e9");
        FAIL() << "a character without a token was dropped";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("`\u00e9`: is no token"));
    }
}

TEST(Unigram, AgreesWithEveryDivisionOfShortTexts) {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        std::vector<Scored> tokens;
        for (const char* text : {"a", "b", "c", "ab", "ba", "aab", "bb", "abab", "bba", "cb"})
            if (text[1] == '\0' || random() % 4 != 0)
                tokens.push_back({text, -static_cast<double>(random() % 1000) / 7});
        const Model model(tokens, {});
        std::string text;
        for (size_t i = 1 + random() % 9; i > 0; --i) text += static_cast<char>('a' + random() % 3);
        const auto score_of = [&](std::string_view piece) {
            for (const Scored& token : tokens)
                if (token.text == piece) return token.score;
            return kNever;
        };
        // Every set of places where the text is cut.
        double best = kNever;
        for (uint32_t cuts = 0; cuts < 1U << (text.size() - 1); ++cuts) {
            double sum = 0;
            size_t begin = 0;
            for (size_t end = 1; end <= text.size(); ++end) {
                if (end < text.size() && (cuts >> (end - 1) & 1) == 0) continue;
                sum += score_of(text.substr(begin, end - begin));
                begin = end;
            }
            best = std::max(best, sum);
        }
        double sum = 0;
        std::string spelled;
        for (const TokenId id : model.encode(text)) {
            sum += tokens[static_cast<size_t>(id)].score;
            spelled += tokens[static_cast<size_t>(id)].text;
        }
        EXPECT_EQ(spelled, text);
        EXPECT_NEAR(sum, best, 1e-9) << text;
    }
}

}  // namespace
}  // namespace tessera::llm
