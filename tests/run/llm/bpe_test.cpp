#include "run/llm/bpe.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

/// A random vocabulary over few letters, so that merges overlap in every way.
struct Random {
    Vocabulary vocabulary;
    std::vector<std::array<TokenId, 3>> merges;  // left, right, result; by rank

    explicit Random(uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<std::string> texts;
        const auto add = [&](const std::string& text) {
            if (vocabulary.find(text)) return;
            vocabulary.add(static_cast<TokenId>(texts.size()), text);
            texts.push_back(text);
        };
        for (const char* letter : {"a", "b", "c", "\u00e9"}) add(letter);
        for (int i = 0; i < 40; ++i) {
            const auto left = static_cast<TokenId>(random() % texts.size());
            const auto right = static_cast<TokenId>(random() % texts.size());
            const std::string text = texts[left] + texts[right];
            if (text.size() > 12) continue;
            add(text);
            merges.push_back({left, right, *vocabulary.find(text)});
        }
    }
};

std::string random_piece(std::mt19937& random) {
    constexpr const char* kLetters[] = {"a", "b", "c", "\u00e9", "x"};
    std::string piece;
    for (size_t i = random() % 20; i > 0; --i) piece += kLetters[random() % 5];
    return piece;
}

/// Byte-pair encoding as the paper words it: again and again, the pair of the smallest rank, the leftmost of
/// them. `rank(i)` of the neighbours i and i + 1; UINT32_MAX where they do not merge.
template <typename Symbol, typename Rank, typename Join>
void merge_slowly(std::vector<Symbol>& symbols, Rank rank, Join join) {
    while (symbols.size() > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < symbols.size(); ++i)
            if (rank(i) < rank(best)) best = i;
        if (rank(best) == UINT32_MAX) return;
        symbols[best] = join(best);
        symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
    }
}

TEST(Bpe, MergesByRankAsTheDefinitionSays) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        const Random source(seed);
        MergeTable table(source.merges.size());
        for (size_t rank = 0; rank < source.merges.size(); ++rank)
            table.add(source.merges[rank][0], source.merges[rank][1],
                      {static_cast<uint32_t>(rank), source.merges[rank][2]});
        const Bpe bpe(table, {});
        std::mt19937 random(seed);
        for (int round = 0; round < 20; ++round) {
            const std::string piece = random_piece(random);
            std::vector<TokenId> expected;
            for (size_t at = 0; at < piece.size();) {
                const uint32_t length = first_character(std::string_view(piece).substr(at)).length;
                if (const auto id = source.vocabulary.find(piece.substr(at, length))) expected.push_back(*id);
                at += length;
            }
            merge_slowly(
                expected,
                [&](size_t i) {
                    for (size_t rank = 0; rank < source.merges.size(); ++rank)
                        if (source.merges[rank][0] == expected[i] &&
                            source.merges[rank][1] == expected[i + 1])
                            return static_cast<uint32_t>(rank);
                    return UINT32_MAX;
                },
                [&](size_t i) {
                    for (const auto& merge : source.merges)
                        if (merge[0] == expected[i] && merge[1] == expected[i + 1]) return merge[2];
                    return TokenId{-1};
                });
            std::vector<TokenId> ids;
            bpe.encode(source.vocabulary, piece, ids);
            EXPECT_EQ(ids, expected) << "seed " << seed << " piece " << piece;
        }
    }
}

TEST(Bpe, MergesByScoreAsTheDefinitionSays) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        const Random source(seed);
        std::mt19937 random(seed);
        ScoreRanks scores;
        for (size_t id = 0; id < source.vocabulary.size(); ++id)
            scores.ranks.push_back(random() % 8 == 0 ? ScoreRanks::kNever : random() % 10);
        constexpr TokenId kUnknown = 1000;
        BpeOptions options;
        options.unknown = kUnknown;
        const Bpe bpe(scores, options);
        for (int round = 0; round < 20; ++round) {
            const std::string piece = random_piece(random);
            std::vector<std::string> symbols;
            for (size_t at = 0; at < piece.size();) {
                const uint32_t length = first_character(std::string_view(piece).substr(at)).length;
                symbols.push_back(piece.substr(at, length));
                at += length;
            }
            merge_slowly(
                symbols,
                [&](size_t i) {
                    const auto id = source.vocabulary.find(symbols[i] + symbols[i + 1]);
                    return id ? scores.ranks[*id] : UINT32_MAX;
                },
                [&](size_t i) { return symbols[i] + symbols[i + 1]; });
            std::vector<TokenId> expected;
            for (const std::string& symbol : symbols)
                expected.push_back(source.vocabulary.find(symbol).value_or(kUnknown));
            std::vector<TokenId> ids;
            bpe.encode(source.vocabulary, piece, ids);
            EXPECT_EQ(ids, expected) << "seed " << seed << " piece " << piece;
        }
    }
}

class BpeOptionsTest : public ::testing::Test {
protected:
    BpeOptionsTest() {
        TokenId id = 0;
        for (const char* text : {"a", "b", "ab", "abc", "<0xC3>", "<0xA9>", "<unk>", "##b", "a##b", "b</w>"})
            vocabulary_.add(id++, text);
        table_.add(0, 1, {0, 2});
    }
    std::vector<TokenId> encode(BpeOptions options, std::string_view piece) const {
        std::vector<TokenId> ids;
        Bpe(table_, std::move(options)).encode(vocabulary_, piece, ids);
        return ids;
    }
    Vocabulary vocabulary_;
    MergeTable table_{8};
};

TEST_F(BpeOptionsTest, UnknownCharacters) {
    using Ids = std::vector<TokenId>;
    EXPECT_EQ(encode({}, "a?b"), (Ids{2})) << "without an unknown token they are dropped, as if never there";
    EXPECT_EQ(encode({.unknown = 6}, "a??b"), (Ids{0, 6, 6, 1}));
    EXPECT_EQ(encode({.unknown = 6, .fuse_unknown = true}, "a??b?"), (Ids{0, 6, 1, 6}));
    std::array<TokenId, 256> bytes;
    bytes.fill(-1);
    bytes[0xc3] = 4;
    bytes[0xa9] = 5;
    EXPECT_EQ(encode({.unknown = 6, .byte_tokens = bytes}, "a\u00e9\u00e8\xc3"), (Ids{0, 4, 5, 6, 4}))
        << "a character is spelled in bytes only if all of them have tokens";
}

TEST_F(BpeOptionsTest, WholePiecesAndAffixes) {
    using Ids = std::vector<TokenId>;
    EXPECT_EQ(encode({.unknown = 6}, "abc"), (Ids{2, 6}));
    EXPECT_EQ(encode({.unknown = 6, .ignore_merges = true}, "abc"), (Ids{3}));
    EXPECT_EQ(encode({.unknown = 6, .continuing_prefix = "##"}, "ab"), (Ids{0, 7}));
    EXPECT_EQ(encode({.unknown = 6, .end_suffix = "</w>"}, "ab"), (Ids{0, 9}));
    EXPECT_EQ(encode({}, ""), Ids{});
}

TEST(Vocabulary, FindsWhatWasAdded) {
    Vocabulary vocabulary;
    EXPECT_EQ(vocabulary.find("a"), std::nullopt);
    for (TokenId id = 0; id < 5000; ++id) EXPECT_TRUE(vocabulary.add(2 * id, "token" + std::to_string(id)));
    EXPECT_FALSE(vocabulary.add(4, "another"));
    EXPECT_TRUE(vocabulary.add(5, "token7")) << "a text may have two ids";
    EXPECT_EQ(vocabulary.find("token7"), 14) << "and is found under the first";
    EXPECT_EQ(vocabulary.text(5), "token7");
    EXPECT_EQ(vocabulary.text(14), "token7");
    EXPECT_EQ(vocabulary.size(), 9999u);
    EXPECT_FALSE(vocabulary.contains(1));
    EXPECT_FALSE(vocabulary.contains(-1));
    EXPECT_FALSE(vocabulary.contains(9999));
    const Vocabulary copy = vocabulary;
    for (TokenId id = 0; id < 5000; ++id) EXPECT_EQ(copy.find("token" + std::to_string(id)), 2 * id);
}

}  // namespace
}  // namespace tessera::llm
