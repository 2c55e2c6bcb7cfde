#include "run/llm/pre_tokenizer.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/byte_alphabet.h"
#include "run/llm/byte_level_patterns.h"
#include "run/llm/normalizer.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> pieces(const std::vector<PreTokenizerStep>& steps, std::string text,
                                bool at_start = true) {
    const Pieces result = pre_tokenize(steps, std::move(text), at_start);
    std::vector<std::string> texts;
    for (size_t i = 0; i < result.ranges.size(); ++i) texts.emplace_back(result.piece(i));
    return texts;
}

Split at(const std::string& text, SplitBehaviour behaviour, bool invert = false) {
    return {text, behaviour, invert};
}

Split by(const char* pattern, SplitBehaviour behaviour = SplitBehaviour::kIsolated, bool invert = false) {
    return {Regex::compile(pattern, "test"), behaviour, invert};
}

TEST(Split, TheExampleOfTheHeader) {
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kIsolated)}, "a--b"), ElementsAre("a", "-", "-", "b"));
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kRemoved)}, "a--b"), ElementsAre("a", "b"));
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kMergedWithPrevious)}, "a--b"), ElementsAre("a-", "-", "b"));
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kMergedWithNext)}, "a--b"), ElementsAre("a", "-", "-b"));
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kContiguous)}, "a--b"), ElementsAre("a", "--", "b"));
}

TEST(Split, AtTheEndsOfTheText) {
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kMergedWithPrevious)}, "-a-"), ElementsAre("-", "a-"));
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kMergedWithNext)}, "-a-"), ElementsAre("-a", "-"));
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kRemoved)}, "---"), ElementsAre());
    EXPECT_THAT(pieces({at("-", SplitBehaviour::kIsolated)}, ""), ElementsAre());
}

TEST(Split, InvertedAndEmptyMatches) {
    EXPECT_THAT(pieces({by("[a-z]+", SplitBehaviour::kRemoved, true)}, "ab12cd"), ElementsAre("ab", "cd"));
    EXPECT_THAT(pieces({by("(?=b)")}, "abab"), ElementsAre("a", "ba", "b"));
}

TEST(Split, StepsDivideThePiecesOfTheStepBefore) {
    EXPECT_THAT(pieces({by("\\p{N}"), by("\\s+", SplitBehaviour::kRemoved)}, "a 12 b"),
                ElementsAre("a", "1", "2", "b"));
}

TEST(Split, MalformedBytesArePiecesOfTheirOwn) {
    EXPECT_THAT(pieces({by("[a-z]+")}, "ab\xff\xfe 1"), ElementsAre("ab", "\xff\xfe", " 1"));
}

TEST(ByteLevel, MarksSpacesAndKeepsWords) {
    const auto steps = byte_level_steps({kGpt2Pattern}, false);
    EXPECT_THAT(pieces(steps, "Hello  world's"), ElementsAre("Hello", "\u0120", "\u0120world", "'s"));
    EXPECT_THAT(pieces(byte_level_steps({kGpt2Pattern}, true), "Hi"), ElementsAre("\u0120Hi"));
    EXPECT_THAT(pieces(byte_level_steps({kGpt2Pattern}, true), " Hi"), ElementsAre("\u0120Hi"));
    EXPECT_THAT(pieces(byte_level_steps({kLlama3Pattern}, false), "12345\n\n x"),
                ElementsAre("123", "45", "\u010a\u010a", "\u0120x"));
    EXPECT_THAT(pieces(byte_level_steps({kQwen2Pattern}, false), "IT'S 12"),
                ElementsAre("IT", "'S", "\u0120", "1", "2"));
}

TEST(ByteLevel, TheAlphabetIsReversible) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    std::string text;
    append_alphabet(text, bytes);
    EXPECT_EQ(bytes_of_alphabet(text), bytes);
    EXPECT_EQ(alphabet_character(' '), "\u0120");
    EXPECT_EQ(alphabet_character('\n'), "\u010a");
    EXPECT_EQ(alphabet_character('a'), "a");
    EXPECT_EQ(alphabet_character(0xad), "\u0143");
    EXPECT_EQ(bytes_of_alphabet("a b"), std::nullopt);
    EXPECT_EQ(bytes_of_alphabet("\u0144"), std::nullopt);
    EXPECT_EQ(bytes_of_alphabet("\xff"), std::nullopt);
}

TEST(ByteLevel, NamesOfGgufFilesAreDistinctAndCompile) {
    std::vector<std::string_view> names = byte_pre_tokenizer_names();
    for (const std::string_view name : names)
        EXPECT_FALSE(byte_level_steps(byte_pre_tokenizer(name)->patterns, false).empty());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    EXPECT_FALSE(byte_pre_tokenizer("unheard-of"));
    EXPECT_THAT(pieces(byte_level_steps(byte_pre_tokenizer("smollm")->patterns, false), "a12"),
                ElementsAre("a", "1", "2"));
    EXPECT_THAT(pieces(byte_level_steps(byte_pre_tokenizer("default")->patterns, false), "x=1234"),
                ElementsAre("x", "=", "123", "4"));
}

TEST(Metaspace, PutsOneInFront) {
    const std::string mark = "\u2581";
    EXPECT_THAT(pieces({Metaspace{}}, "a b"), ElementsAre(mark + "a" + mark + "b"));
    EXPECT_THAT(pieces({Metaspace{}}, " a"), ElementsAre(mark + "a"));
    EXPECT_THAT(pieces({Metaspace{.front = Metaspace::Front::kFirst}}, "a", false), ElementsAre("a"));
    EXPECT_THAT(pieces({Metaspace{.front = Metaspace::Front::kFirst}}, "a", true), ElementsAre(mark + "a"));
    EXPECT_THAT(pieces({Metaspace{.front = Metaspace::Front::kNever}}, "a b"), ElementsAre("a" + mark + "b"));
}

TEST(Normalizer, Steps) {
    const auto apply = [](NormalizerStep step, std::string_view text) {
        return normalize(std::vector<NormalizerStep>{std::move(step)}, text);
    };
    EXPECT_EQ(apply(UnicodeForm::kNfc, "e\u0301"), "\u00e9");
    EXPECT_EQ(apply(UnicodeForm::kNfd, "\u00e9"), "e\u0301");
    EXPECT_EQ(apply(UnicodeForm::kNfkc, "\ufb01\u00b2"), "fi2");
    EXPECT_EQ(apply(UnicodeForm::kNfkd, "\ufb01\u00e9"), "fie\u0301");
    EXPECT_EQ(apply(UnicodeForm::kNfc, std::string_view("a\0\u00e9", 4)), std::string_view("a\0\u00e9", 4));
    EXPECT_EQ(apply(UnicodeForm::kNfc, "e\u0301\xff\xcc"), "\u00e9\xff\xcc") << "malformed bytes stay";
    EXPECT_EQ(apply(Lowercase{}, "ÀB\u0130"), "àbi\u0307");
    EXPECT_EQ(apply(Prepend{"_"}, "a"), "_a");
    EXPECT_EQ(apply(Prepend{"_"}, ""), "");
    EXPECT_EQ(apply(ReplaceText{"aa", "b"}, "aaaaa"), "bba");
    EXPECT_EQ(apply(ReplacePattern{Regex::compile(" {2,}", "test"), " "}, "a    b c  "), "a b c ");
    EXPECT_EQ(apply(StripSpace{}, " \u3000a b\n"), "a b");
    EXPECT_EQ(apply(StripSpace{.right = false}, " a "), "a ");
    EXPECT_EQ(apply(StripSpace{.left = false}, " a "), " a");
    EXPECT_EQ(apply(StripSpace{}, "  "), "");
}

TEST(RegexDialect, WhiteSpaceIsThatOfUnicode) {
    EXPECT_EQ(Regex::compile("\\s", "test").find_all("\u180e \u3000").size(), 2u);
    EXPECT_EQ(Regex::compile("[^\\s]", "test").find_all("\u180e \u3000").size(), 1u);
    EXPECT_EQ(Regex::compile("\\S", "test").find_all("\u180e \u3000").size(), 1u);
    EXPECT_EQ(Regex::compile("\\h+", "test").find_all("00ff xyz").size(), 1u);
    EXPECT_EQ(Regex::compile("^a$", "test").find_all("a\na").size(), 2u)
        << "every line has a begin and an end";
    EXPECT_EQ(Regex::compile("[]a]", "test").find_all("]a").size(), 2u);
    EXPECT_EQ(Regex::compile("[[:alpha:]]", "test").find_all("a1").size(), 1u);
    EXPECT_EQ(Regex::compile("(?i:'S)", "test").find_all("'s'S").size(), 2u);
}

TEST(RegexDialect, ScriptsAreWithoutTheirExtensions) {
    const std::string text = "\u6f22\u3001\u3005\u30fc";  // a comma and a mark that several scripts use
    for (const char* pattern : {"\\p{Han}", "[\\p{Han}]", "\\p{^Han}", "\\P{Han}", "\\p{Hani}"})
        EXPECT_EQ(Regex::compile(pattern, "test").find_all(text).size(), 2u) << pattern;
    EXPECT_EQ(Regex::compile("\\p{L}\\p{Lu}|\\p{Alphabetic}", "test").find_all("aA\u3001b").size(), 2u);
}

TEST(RegexDialect, ClassesMayHoldClassesAndIntersect) {
    const auto found = [](const char* pattern) {
        std::string all;
        const std::string text = "abcxyz[&\u00e9\u6f22\n";
        for (const TextRange& range : Regex::compile(pattern, "test").find_all(text))
            all += text.substr(range.begin, range.size()) + "|";
        return all;
    };
    EXPECT_EQ(found("[a[bc]]+"), "abc|");
    EXPECT_EQ(found("[a-z&&[^by]]+"), "a|cx|z|");
    EXPECT_EQ(found("[a-z&&[^b]&&[^y]]+"), "a|cx|z|");
    EXPECT_EQ(found("[[a-c][x-z]&&[^b]]+"), "a|cxyz|");
    EXPECT_EQ(found("[^a-c[x-z]]+"), "[&\u00e9\u6f22\n|");
    EXPECT_EQ(found("[^a-z&&[^b]]+"), "b|[&\u00e9\u6f22\n|") << "a negation is of the whole class";
    EXPECT_EQ(found("[\\p{L}&&[^\\p{Han}]]+"), "abcxyz|\u00e9|");
    EXPECT_EQ(found("[[:alpha:]&]+"), "abcxyz|&\u00e9\u6f22|");
}

TEST(RegexDialect, WhatWouldMeanSomethingElseIsRefused) {
    for (const char* pattern : {"[a-z&&]", "[&&a]", "[\\H]"}) {
        try {
            Regex::compile(pattern, "file.json");
            ADD_FAILURE() << pattern;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("which is not supported")) << pattern;
            EXPECT_EQ(error.where, "file.json");
        }
    }
}

TEST(RegexDialect, EmptyMatchesAreFoundOnce) {
    EXPECT_THAT(Regex::compile("x*", "test").find_all("xxa\u00e9"),
                ElementsAre(TextRange{0, 2}, TextRange{3, 3}, TextRange{5, 5}));
}

TEST(Regex, OneSearchServesManyTexts) {
    const Regex words = Regex::compile("[a-z]+", "test");
    RegexSearch search(words);
    for (const char* text : {"ab c", "", "1", "d", "\u00e9e", "ab c"}) {
        const std::vector<TextRange> expected = words.find_all(text);
        EXPECT_EQ(search.find_all(text), expected) << text;
    }
}

/// Every digit is a piece, which a later step divides again: as many searches as bytes.
TEST(PreTokenizer, ManyPieces) {
    std::vector<PreTokenizerStep> steps;
    for (const char* pattern : {"\\p{N}", " ?\\p{L}+| ?\\p{N}+|\\s+"})
        steps.emplace_back(Split{Regex::compile(pattern, "test"), SplitBehaviour::kIsolated, false});
    steps.emplace_back(MapBytes{});
    const Pieces pieces = pre_tokenize(steps, std::string(300'000, '7') + " ab", true);
    ASSERT_EQ(pieces.ranges.size(), 300'001U);
    EXPECT_EQ(pieces.piece(299'999), "7");
    EXPECT_EQ(pieces.piece(300'000), "\u0120ab");
}

}  // namespace
}  // namespace tessera::llm
