#include "run/grammar/regular_expression.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tessera/error.h"

namespace tessera::grammar {
namespace {

TextAutomaton texts_of(const std::string& pattern) {
    int64_t work = 20'000'000;
    return texts_with_match(pattern, "s.json", "pattern", work);
}

void expect_matches(const std::string& pattern, const std::vector<std::string>& in,
                    const std::vector<std::string>& out) {
    const TextAutomaton texts = texts_of(pattern);
    for (const std::string& text : in) EXPECT_TRUE(matches(texts, text)) << pattern << " " << text;
    for (const std::string& text : out) EXPECT_FALSE(matches(texts, text)) << pattern << " " << text;
}

std::string refusal(const std::string& pattern) {
    try {
        texts_of(pattern);
    } catch (const Error& error) {
        return error.problem;
    }
    return "is fine";
}

TEST(RegularExpression, MatchesAnywhereWithoutAnchors) {
    expect_matches("b", {"b", "abc"}, {"", "ac"});
    expect_matches("^a|b$", {"ax", "xb", "ab"}, {"xa", "bx", ""});
    expect_matches("^$", {""}, {"a", "\n"});
    expect_matches("", {"", "x"}, {});
    expect_matches("^(?:a|bc){2,3}$", {"aa", "abc", "bcbcbc"}, {"a", "aaaa", "bcb"});
    expect_matches("^(?<year>\\d{4})-\\d\\d?$", {"2024-1", "2024-12"}, {"24-1", "2024-123"});
    expect_matches("^a*?b+?c??$", {"b", "aabbc"}, {"a", "bcc"});
    expect_matches("^x{,$|^y{2$", {"x{,", "y{2"}, {"x", "yy"});
}

TEST(RegularExpression, KnowsSets) {
    expect_matches("^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$", {"a@b.org", "é@ü.de"}, {"a b@c.de", "a@b", "a@@b.de"});
    expect_matches("^[\\w.-]+$", {"a_B-9."}, {"a b", "é", ""});
    expect_matches("^\\W\\D\\S$", {"-a-", "-üx"}, {"a1a", "-1a", "-a ", "éüx"});
    expect_matches("^.$", {"a", "🦙", "\""}, {"\n", "\r", "ab"});
    expect_matches("^[\\u0041-\\x43\\u{1F600}]$", {"A", "C", "😀"}, {"D", "a"});
    expect_matches("^\\ud83d\\ude00$", {"😀"}, {""});
    expect_matches("^[\\]\\-^]+$", {"]-^"}, {"a"});
    expect_matches("^[a-]$", {"a", "-"}, {"b"});
    expect_matches("^\\t\\n\\0[\\b]$", {std::string("\t\n\0\b", 4)}, {"tn0b"});
}

/// Languages differ in what is white space and a part of a word beyond ASCII: neither a set nor its
/// complement has it.
TEST(RegularExpression, WritesWhatAllLanguagesTake) {
    for (const std::string c : {"\x1c", "\u0085", "\ufeff"}) expect_matches("\\s|\\S", {"a", " "}, {c});
    expect_matches("^[^\\w\\s]$", {"-", "!"}, {"é", "a"});
    expect_matches("\\bab", {"ab", "é ab"}, {"éab"});
    expect_matches("\\Bab", {"aab"}, {"éab", "ab"});
}

TEST(RegularExpression, KnowsWordBoundaries) {
    expect_matches("\\bcat\\b", {"cat", "a cat.", "cat cat"}, {"cats", "concat", "_cat"});
    expect_matches("\\Bb", {"ab", "abb"}, {"b", " b", "a b"});
    expect_matches("^\\b$|^\\B-", {"-"}, {"", "a"});
}

TEST(RegularExpression, LooksAheadFromTheBeginning) {
    expect_matches("^(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d]{4,}$", {"aB3d", "9Zzz"}, {"abcd", "AB3", "aB3-"});
    // A decimal as pydantic writes it.
    expect_matches("^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$", {"1", "-0.5", ".5", "+12."},
                   {"", "-", ".", "+.", "1.2.3"});
    EXPECT_NE(refusal("^a(?=b)").find("looks ahead within"), std::string::npos);
}

TEST(RegularExpression, RefusesByName) {
    EXPECT_EQ(refusal("(a)\\1"), "at character 5 the pattern refers back to a group, which is not supported");
    EXPECT_EQ(refusal("(?<=a)b"), "at character 2 the pattern looks behind, which is not supported");
    EXPECT_EQ(refusal("\\p{L}"),
              "at character 2 the pattern names a property of characters, which is not supported");
    EXPECT_EQ(refusal("(?i)a"),
              "at character 2 the pattern has a group of another language, which is not supported");
    EXPECT_EQ(refusal("\\Aa\\Z"), "at character 2 the pattern has the escape \\A, which is not supported");
    for (const char* pattern : {"(", ")", "[", "a**", "*", "\\", "[b-a]", "a{3,2}", "(?:", "\\x4", "a{99999}",
                                "^*", "(?<n", "\\u{110000}", "[\\w-a]"})
        EXPECT_NE(refusal(pattern), "is fine") << pattern;
}

/// Hostile patterns end with an error.
TEST(RegularExpression, IsBounded) {
    EXPECT_NE(refusal("^(a|b)*a(a|b){24}$"), "is fine");
    EXPECT_NE(refusal("((a{1000}){1000}){1000}"), "is fine");
    EXPECT_NE(refusal(std::string(5000, '(') + std::string(5000, ')')), "is fine");
    EXPECT_EQ(refusal("^(((a*)*)*)*$"), "is fine");
    std::string wide;
    for (int i = 0; i < 200; ++i) wide += "(.*" + std::to_string(i) + ")?";
    (void)refusal(wide);  // whichever: it ends
}

/// A recogniser by the definition, which tries all ways.
class Backtracker {
public:
    Backtracker(const RegularExpression& expression, const std::string& text)
        : expression_(expression), text_(text) {}
    bool finds() {
        for (size_t at = 0; at <= text_.size(); ++at)
            if (tries(expression_.root, at, [](size_t) { return true; })) return true;
        return false;
    }

private:
    using Then = std::function<bool(size_t)>;
    using Kind = RegularExpression::Kind;

    bool is_word(size_t at) const {
        return at < text_.size() && (isalnum(static_cast<unsigned char>(text_[at])) != 0);
    }
    bool tries(RegexPart id, size_t at, const Then& then) {
        const RegularExpression::Part& part = expression_.parts[id];
        switch (part.kind) {
            case Kind::kCharacter:
                for (const CodePointRange& range : part.characters)
                    if (at < text_.size() && range.first <= static_cast<unsigned char>(text_[at]) &&
                        static_cast<unsigned char>(text_[at]) <= range.last)
                        return then(at + 1);
                return false;
            case Kind::kSequence:
                return sequence(part, 0, at, then);
            case Kind::kChoice:
                return std::any_of(part.parts.begin(), part.parts.end(),
                                   [&](RegexPart one) { return tries(one, at, then); });
            case Kind::kRepetition:
                return repeats(part, 0, at, then);
            default: {
                const bool boundary = (at > 0 && is_word(at - 1)) != is_word(at);
                const bool holds = part.assertion == Assertion::kBegin ? at == 0
                                   : part.assertion == Assertion::kEnd
                                       ? at == text_.size()
                                       : boundary == (part.assertion == Assertion::kWordBoundary);
                return holds && then(at);
            }
        }
    }
    bool sequence(const RegularExpression::Part& part, size_t i, size_t at, const Then& then) {
        if (i == part.parts.size()) return then(at);
        return tries(part.parts[i], at, [&](size_t next) { return sequence(part, i + 1, next, then); });
    }
    bool repeats(const RegularExpression::Part& part, int64_t count, size_t at, const Then& then) {
        if (count >= part.least && then(at)) return true;
        if (part.most && count >= *part.most) return false;
        return tries(part.parts.front(), at, [&](size_t next) {
            return (next > at || count < part.least) && repeats(part, count + 1, next, then);
        });
    }
    const RegularExpression& expression_;
    const std::string& text_;
};

std::string random_pattern(std::mt19937& random, int depth) {
    static const std::vector<std::string> atoms = {"a",   "b", "-", "[ab]", "[^a]", ".", "\\w",
                                                   "\\W", "^", "$", "\\b",  "\\B",  ""};
    if (depth == 0) return atoms[random() % atoms.size()];
    const std::string first = random_pattern(random, depth - 1), second = random_pattern(random, depth - 1);
    static const std::vector<std::string> counts = {"*", "+", "?", "{2}", "{1,2}", "{2,}"};
    switch (random() % 4) {
        case 0:
            return "(?:" + first + ")" + counts[random() % counts.size()];
        case 1:
            return "(?:" + first + "|" + second + ")";
        default:
            return first + second;
    }
}

TEST(RegularExpression, AgreesWithTryingAllWays) {
    std::mt19937 random(5);
    std::vector<std::string> texts = {""};
    for (size_t i = 0; i < texts.size() && texts[i].size() < 4; ++i)
        for (const char c : {'a', 'b', '-'}) texts.push_back(texts[i] + c);
    for (int i = 0; i < 400; ++i) {
        const std::string pattern = random_pattern(random, 3);
        const RegularExpression expression = parse_regular_expression(pattern, "", "");
        const TextAutomaton automaton = texts_of(pattern);
        for (const std::string& text : texts)
            ASSERT_EQ(matches(automaton, text), Backtracker(expression, text).finds())
                << pattern << " in " << text;
    }
}

TEST(TextAutomaton, CombinesSets) {
    const auto a = texts_of("^a+$"), b = texts_of("^.{2,3}$");
    const auto both = intersection(a, b), rest = difference(a, b);
    for (const auto& [text, in_both, in_rest] :
         std::vector<std::tuple<std::string, bool, bool>>{{"a", false, true},
                                                          {"aa", true, false},
                                                          {"aaa", true, false},
                                                          {"aaaa", false, true},
                                                          {"ab", false, false}}) {
        EXPECT_EQ(matches(*both, text), in_both) << text;
        EXPECT_EQ(matches(*rest, text), in_rest) << text;
    }
    EXPECT_TRUE(is_empty(*intersection(a, texts_of("b"))));
    const std::vector<std::string> words = {"é", "", "éa"};
    const auto others = difference(any_text(), *these_texts(words));
    for (const std::string& word : words) EXPECT_FALSE(matches(*others, word));
    EXPECT_TRUE(matches(*others, "a"));
    EXPECT_FALSE(intersection(texts_of_length(0, 20'000), texts_of("ab")));
}

}  // namespace
}  // namespace tessera::grammar
