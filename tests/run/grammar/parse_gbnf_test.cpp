#include "run/grammar/parse_gbnf.h"

#include <gtest/gtest.h>

#include "run/grammar/automaton.h"
#include "run/grammar/slow_recogniser.h"
#include "tessera/error.h"

namespace tessera::grammar {
namespace {

std::string gbnf_message(const std::string& text) {
    try {
        compile(parse_gbnf(text, "g.gbnf"));
    } catch (const Error& error) {
        return error.what();
    }
    return "is fine";
}

TEST(ParseGbnf, ReadsTheLanguage) {
    const RuleSet rules = parse_gbnf(
        "# texts\n"
        "root ::= item (\",\" item)* # one or more\n"
        "item ::= [a-c\\]^-]+ |\n"
        "  \"\\\"\\x41\\u00e9\\U0001F999\\n\" | ( \"x\"\n  | \"y\" ){2,3}\n"
        "  | other-1_b\r\n"
        "other-1_b ::= [^\\x00-\\x7f] \"!\"?",
        "g");
    for (const char* text : {"a", "]^-", "\"Aé🦙\n", "xyx,xy", "é", "é!,b"})
        EXPECT_TRUE(recognises(rules, text)) << text;
    for (const char* text : {"", "d", "x", "xyxy", "a,", "!"}) EXPECT_FALSE(recognises(rules, text)) << text;
}

TEST(ParseGbnf, SaysWhereAndWhatIsWrong) {
    EXPECT_EQ(gbnf_message("root ::= \"a\"\nb := \"c\""),
              "g.gbnf:2:3: expected `::=` after the name of a rule, found `:`");
    EXPECT_EQ(gbnf_message("root ::= \"a"),
              "g.gbnf:1:12: expected `\"` on the same line (a line break inside of it is written \\n)");
    EXPECT_EQ(gbnf_message("root ::= (\"a\""),
              "g.gbnf:1:14: expected `)` for the `(` at g.gbnf:1:10, found the end");
    EXPECT_EQ(gbnf_message("root ::= * \"a\""), "g.gbnf:1:10: `*` repeats nothing");
    EXPECT_EQ(gbnf_message("root ::= \"a\"**"),
              "g.gbnf:1:14: `*` repeats what is repeated already (put parentheses around it)");
    EXPECT_EQ(gbnf_message("root ::= \"a\"{3,2}"), "g.gbnf:1:13: the largest count is below the smallest");
    EXPECT_EQ(gbnf_message("root ::= \"a\"{,2}"), "g.gbnf:1:14: expected a number, found `,`");
    EXPECT_EQ(gbnf_message("root ::= \"a\"{99999}"), "g.gbnf:1:14: the number is larger than 10000");
    EXPECT_EQ(gbnf_message("root ::= [z-a]"), "g.gbnf:1:11: the range ends before it begins");
    EXPECT_EQ(
        gbnf_message("root ::= \"\\q\""),
        "g.gbnf:1:11: is no known escape (these are: \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\^ \\xHH \\uHHHH "
        "\\UHHHHHHHH)");
    EXPECT_EQ(gbnf_message("root ::= \"\\ud800\""), "g.gbnf:1:11: U+D800 is no character");
    EXPECT_EQ(gbnf_message("root ::= \"\xff\""), "g.gbnf:1:11: is not UTF-8");
    EXPECT_EQ(gbnf_message("root ::= a"),
              "g.gbnf:1:10: `a`: is used, but not defined (write a rule: a ::= ...)");
    EXPECT_EQ(gbnf_message("a ::= \"a\""),
              "g.gbnf: `root`: is not defined (a grammar begins at the rule root: root ::= ...)");
    EXPECT_EQ(gbnf_message(""),
              "g.gbnf: `root`: is not defined (a grammar begins at the rule root: root ::= ...)");
    EXPECT_EQ(gbnf_message("root ::= \"a\"\nroot ::= \"b\""), "g.gbnf:2:1: the rule root is defined twice");
    EXPECT_EQ(gbnf_message("root ::= <think>"),
              "g.gbnf:1:10: tokens in a grammar are not supported (write their text as a literal)");
    EXPECT_EQ(gbnf_message("root ::= \"a\" )"), "g.gbnf:1:14: unexpected `)` in a rule");
}

TEST(ParseGbnf, RefusesRulesThatNeverEnd) {
    EXPECT_EQ(gbnf_message("root ::= a \"x\"\na ::= \"q\"? b\nb ::= a \"y\" | \"z\""),
              "g.gbnf:2:1: `a`: calls itself before it has read a character: a -> b -> a (write the "
              "repetition with * or "
              "+, or call it after something else)");
    EXPECT_EQ(gbnf_message("root ::= \"a\" root"),
              "g.gbnf:1:1: `root`: allows no text at all (give its recursion an end)");
    EXPECT_EQ(gbnf_message("root ::= []"),
              "g.gbnf:1:1: `root`: allows no text at all (give its recursion an end)");
    EXPECT_EQ(gbnf_message("root ::= a*\na ::= \"\" | \"x\""), "is fine");
}

TEST(ParseGbnf, HasLimits) {
    const Limits small{.text_bytes = 100, .depth = 3, .nodes = 20, .states = 60, .edges = 200};
    const auto small_message = [&](const std::string& text) -> std::string {
        try {
            compile(parse_gbnf(text, "g", small), small);
        } catch (const Error& error) {
            return error.what();
        }
        return "is fine";
    };
    EXPECT_EQ(small_message("root ::= ((((\"a\"))))"), "g:1:13: more than 3 groups inside each other");
    EXPECT_EQ(small_message("root ::= " + std::string(30, '.')),
              "g:1:31: the grammar has more than 20 parts");
    EXPECT_EQ(
        small_message("root ::= \"abc\"{30}"),
        "g:1:1: `root`: with this rule the grammar has more than 60 states (write it with smaller counts)");
    EXPECT_EQ(small_message("root ::= " + std::string(100, ' ')),
              "g: the grammar has 109 bytes, at most 100 are read");
    EXPECT_EQ(small_message("root ::= (\"a\"? \"b\"? \"c\"?){9}"),
              "g: the automaton of the grammar has more than 200 edges (use fewer optional parts one after "
              "the other)");
}

/// Counts of counts: the size is what the text asks for, not what it has.
TEST(ParseGbnf, IsBoundedHoweverCountsAreNested) {
    std::string text = "root ::= \"a\"";
    for (int i = 0; i < 20; ++i) text = "root ::= (" + text.substr(9) + "){1000}";
    EXPECT_NE(gbnf_message(text).find("states"), std::string::npos) << gbnf_message(text);
}

}  // namespace
}  // namespace tessera::grammar
