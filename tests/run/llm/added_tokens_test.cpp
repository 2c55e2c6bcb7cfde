#include "run/llm/added_tokens.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::llm {
namespace {

/// Sections as text: tokens by id in brackets.
std::string show(const std::vector<AddedToken>& tokens, std::string_view text, bool parse_special = true,
                 const std::vector<NormalizerStep>& normalizer = {}) {
    std::string shown;
    for (const TextSection& section :
         AddedTokenSplitter(tokens, normalizer).split(text, normalizer, parse_special))
        shown += section.token ? "[" + std::to_string(*section.token) + "]" : "(" + section.text + ")";
    return shown;
}

TEST(AddedTokens, TheLongestOfTheLeftmostIsCutOut) {
    const std::vector<AddedToken> tokens = {
        {.id = 1, .content = "<a"}, {.id = 2, .content = "<a>"}, {.id = 3, .content = "x<"}};
    EXPECT_EQ(show(tokens, "p<a>q<a"), "(p)[2](q)[1]");
    EXPECT_EQ(show(tokens, "x<a>"), "[3](a>)");
    EXPECT_EQ(show(tokens, ""), "");
    EXPECT_EQ(show(tokens, "<a><a>"), "[2][2]");
    EXPECT_EQ(show({}, "text"), "(text)");
}

TEST(AddedTokens, SpecialOnesAreTextWhenNotParsed) {
    const std::vector<AddedToken> tokens = {{.id = 1, .content = "<s>", .special = true},
                                            {.id = 2, .content = "<t>"}};
    EXPECT_EQ(show(tokens, "<s>a<t>"), "[1](a)[2]");
    EXPECT_EQ(show(tokens, "<s>a<t>", false), "(<s>a)[2]");
}

/// Foreign bytes are in braces, which are no part of the text.
std::string show_with_foreign(const std::vector<AddedToken>& tokens, std::string_view marked,
                              const std::vector<NormalizerStep>& normalizer = {},
                              const std::vector<TokenId>& control = {}) {
    std::string text;
    std::vector<TextRange> foreign;
    for (const char c : marked) {
        if (c == '{')
            foreign.push_back({text.size(), text.size()});
        else if (c == '}')
            foreign.back().end = text.size();
        else
            text += c;
    }
    std::string shown;
    for (const TextSection& section :
         AddedTokenSplitter(tokens, normalizer).split(text, normalizer, true, {foreign, control}))
        shown += section.token ? "[" + std::to_string(*section.token) + "]"
                               : (section.masked ? "(not " : "(") +
                                     (section.continues ? section.alone : section.text) + ")";
    return shown;
}

TEST(AddedTokens, SpecialOnesAreTextWhereAByteIsForeign) {
    const std::vector<AddedToken> tokens = {{.id = 1, .content = "<s>", .special = true},
                                            {.id = 2, .content = "<t>"},
                                            {.id = 3, .content = "<s>x", .special = true},
                                            {.id = 4, .content = "<<s>", .special = true}};
    EXPECT_EQ(show_with_foreign(tokens, "<s>{a<s>b}<s>"), "[1](a)(not <s>)(b)[1]");
    EXPECT_EQ(show_with_foreign(tokens, "{<t>}<s>"), "[2][1]");
    EXPECT_EQ(show_with_foreign(tokens, "<{s}>"), "(<s>)");
    EXPECT_EQ(show_with_foreign(tokens, "{<s}> <s{>}"), "(<s> <s>)");
    // The longest one that the template spells alone.
    EXPECT_EQ(show_with_foreign(tokens, "<s>{x}"), "[1](x)");
    EXPECT_EQ(show_with_foreign(tokens, "{<}<s>"), "(<)[1]");
    // Those that a template steers the model with are special in its conversations.
    EXPECT_EQ(show_with_foreign(tokens, "<t>{a<t>}<t>", {}, {2}), "[2](a)(not <t>)[2]");
    EXPECT_EQ(show_with_foreign(tokens, "<t>{a<t>}<t>", {}, {1}), "[2](a)[2][2]");
}

TEST(AddedTokens, NormalizedSpecialOnesAreTextWhereAByteIsForeign) {
    const std::vector<AddedToken> tokens = {{.id = 1, .content = "<M>", .special = true, .normalized = true},
                                            {.id = 2, .content = "<N>", .normalized = true}};
    const std::vector<NormalizerStep> lower = {Lowercase{}};
    EXPECT_EQ(show_with_foreign(tokens, "A<M>{B<M>C}<M>{<N>}", lower), "(a)[1](b)(not <m>)(c)[1][2]");
    EXPECT_EQ(show_with_foreign(tokens, "{<M>}<M>", lower), "(not <m>)[1]");
    // Lower case alone is the token in the normalised text, and not in the raw one: nothing is certain.
    EXPECT_EQ(show_with_foreign(tokens, "{<m>}<M>", lower), "(not <m>)(not <m>)");
}

TEST(AddedTokens, ThoseOfTheModelAreCutOutOnlyWhereTheyMustNotBe) {
    const std::vector<AddedToken> tokens = {{.id = 1, .content = "<u>", .in_model = true}};
    EXPECT_EQ(show_with_foreign(tokens, "a<u>{<u>}", {}, {1}), "(a<u>)(not <u>)");
    EXPECT_EQ(show_with_foreign(tokens, "a<u>{<u>}"), "(a<u><u>)");
}

TEST(AddedTokens, WhiteSpaceGoesWithThem) {
    const std::vector<AddedToken> left = {{.id = 1, .content = "<m>", .lstrip = true}};
    const std::vector<AddedToken> right = {{.id = 1, .content = "<m>", .rstrip = true}};
    EXPECT_EQ(show(left, "a \u3000<m> b"), "(a)[1]( b)");
    EXPECT_EQ(show(left, "<m>  <m>"), "[1][1]");
    EXPECT_EQ(show(right, "a <m> \n b"), "(a )[1](b)");
    EXPECT_EQ(show(right, "<m> <m>"), "[1][1]");
}

TEST(AddedTokens, SingleWordsStandAlone) {
    const std::vector<AddedToken> tokens = {{.id = 1, .content = "king", .single_word = true}};
    EXPECT_EQ(show(tokens, "king"), "[1]");
    EXPECT_EQ(show(tokens, "the king's"), "(the )[1]('s)");
    EXPECT_EQ(show(tokens, "kings taking \u00e9king king_"), "(kings taking \u00e9king king_)");
}

TEST(AddedTokens, NormalizedOnesAreFoundInNormalizedText) {
    const std::vector<NormalizerStep> lower = {Lowercase{}};
    EXPECT_EQ(show({{.id = 1, .content = "<M>", .normalized = true}}, "A<m>B<M>", true, lower),
              "(a)[1](b)[1]");
    EXPECT_EQ(show({{.id = 1, .content = "<M>"}}, "A<m>B<M>", true, lower), "(a<m>b)[1]");
}

TEST(AddedTokens, OnlyTheFirstSectionStartsTheText) {
    const AddedTokenSplitter splitter({{.id = 1, .content = "|"}}, {});
    const auto sections = splitter.split("a|b", {}, true);
    ASSERT_EQ(sections.size(), 3u);
    EXPECT_TRUE(sections[0].at_start);
    EXPECT_FALSE(sections[2].at_start);
    EXPECT_FALSE(splitter.split("|b", {}, true)[1].at_start);
}

TEST(PatternSet, AgreesWithASearchThroughAll) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto word = [&](size_t longest) {
            std::string text;
            for (size_t i = random() % (longest + 1); i > 0; --i)
                text += static_cast<char>("ab\xff"[random() % 3]);
            return text;
        };
        std::vector<std::string> patterns;
        for (size_t i = random() % 10; i > 0; --i) patterns.push_back(word(5));
        const PatternSet set(patterns);
        for (int round = 0; round < 20; ++round) {
            const std::string text = word(8);
            size_t longest = 0;
            for (const std::string& pattern : patterns)
                if (text.starts_with(pattern)) longest = std::max(longest, pattern.size());
            const auto found = set.longest_prefix(text);
            ASSERT_EQ(found ? found->size : 0, longest) << "seed " << seed;
            ASSERT_TRUE(!found || patterns[found->pattern] == text.substr(0, longest)) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace tessera::llm
