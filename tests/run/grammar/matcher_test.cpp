#include "run/grammar/matcher.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/parse_gbnf.h"
#include "run/grammar/random_grammar.h"
#include "run/grammar/slow_recogniser.h"
#include "tessera/error.h"

namespace tessera::grammar {
namespace {

std::shared_ptr<const Automaton> gbnf_automaton(std::string_view text) {
    return std::make_shared<const Automaton>(compile(parse_gbnf(text, "g")));
}

TEST(Matcher, ReadsWhatTheGrammarSays) {
    const auto nested = gbnf_automaton("root ::= \"(\" root* \")\" | \"x\"");
    EXPECT_TRUE(accepts(nested, "((x)()x)"));
    EXPECT_FALSE(accepts(nested, "((x)()x"));
    EXPECT_FALSE(accepts(nested, "())"));
    const auto counted = gbnf_automaton("root ::= [a-c]{2,4} \"é\"?");
    EXPECT_TRUE(accepts(counted, "abcé"));
    EXPECT_FALSE(accepts(counted, "a"));
    EXPECT_FALSE(accepts(counted, "abcab"));
}

TEST(Matcher, TakesCharactersByTheByte) {
    Matcher matcher(gbnf_automaton("root ::= [\\u00e8-\\u00ea]"));
    EXPECT_TRUE(matcher.advance("\xc3"));
    EXPECT_FALSE(matcher.may_end());
    EXPECT_FALSE(matcher.advance("\xab"));
    EXPECT_TRUE(matcher.advance("\xa9"));
    EXPECT_TRUE(matcher.may_end());
    EXPECT_FALSE(matcher.may_go_on());
}

TEST(Matcher, NeverLeadsWhereNoTextIs) {
    Matcher matcher(gbnf_automaton("root ::= \"a\" never | \"ab\"\nnever ::= \"c\" never"));
    EXPECT_TRUE(matcher.advance("a"));
    EXPECT_FALSE(matcher.advance("c"));
    EXPECT_TRUE(matcher.advance("b"));
}

/// Every way to read it doubles the ways to go on: 2^2000 stacks, in a few frames.
TEST(Matcher, StaysSmallWhereAGrammarIsAmbiguous) {
    Matcher matcher(gbnf_automaton("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"d\""));
    for (int i = 0; i < 1500; ++i) ASSERT_TRUE(matcher.advance("a"));
    EXPECT_TRUE(matcher.advance("d"));
    for (int i = 0; i < 1500; ++i) ASSERT_TRUE(matcher.advance(i % 2 == 0 ? "b" : "c"));
    EXPECT_TRUE(matcher.may_end());
    EXPECT_FALSE(matcher.may_go_on());
}

TEST(Matcher, RepeatsWithoutEnd) {
    Matcher matcher(
        gbnf_automaton("root ::= item tail\ntail ::= \",\" root | \"\"\nitem ::= [a-z]+ | \"(\" root \")\""));
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(matcher.advance("(a,b),"));
    EXPECT_TRUE(matcher.advance("x"));
    EXPECT_TRUE(matcher.may_end());
}

/// Old sets of stacks are dropped on the way.
TEST(Matcher, KeepsItsPlaceWhenItForgets) {
    Matcher matcher(gbnf_automaton("root ::= (\"(\" root \")\" | \"x\" | \"y\" root \"z\")*"));
    uint32_t depth = 0;
    std::mt19937 random(1);
    std::string open;
    for (int i = 0; i < 200'000; ++i) {
        const bool closes = depth == 1000 || (depth > 0 && random() % 2 == 0);
        if (closes) {
            ASSERT_FALSE(matcher.advance(open.back() == '(' ? "z" : ")"));
            ASSERT_TRUE(matcher.advance(open.back() == '(' ? ")" : "z"));
            open.pop_back();
            --depth;
        } else {
            open += random() % 2 == 0 ? '(' : 'y';
            ASSERT_TRUE(matcher.advance(open.substr(open.size() - 1)));
            ++depth;
        }
        ASSERT_EQ(matcher.may_end(), depth == 0);
    }
    EXPECT_GT(matcher.generation(), 0u);
}

TEST(Matcher, RefusesDeepTextsInsteadOfGrowing) {
    Matcher matcher(gbnf_automaton("root ::= \"(\" root? \")\""));
    size_t depth = 0;
    while (depth < 10'000 && matcher.advance("(")) ++depth;
    EXPECT_GE(depth, 1000u);
    EXPECT_LT(depth, 10'000u);
    for (size_t i = 0; i < depth; ++i) ASSERT_TRUE(matcher.advance(")"));
    EXPECT_TRUE(matcher.may_end());
}

/// All texts of up to so many characters of the alphabet, shortest first.
std::vector<std::string> short_texts(size_t longest) {
    constexpr std::array<const char*, 3> kAlphabet = {"a", "b", "é"};
    std::vector<std::string> texts = {""};
    for (size_t begin = 0, length = 0; length < longest; ++length) {
        const size_t end = texts.size();
        for (; begin < end; ++begin)
            for (const char* character : kAlphabet) texts.push_back(texts[begin] + character);
    }
    return texts;
}

TEST(RandomGrammars, AcceptWhatASlowRecogniserAccepts) {
    const char* cases = std::getenv("TESSERA_GRAMMAR_CASES");
    const char* seed = std::getenv("TESSERA_GRAMMAR_SEED");
    std::mt19937 random(seed != nullptr ? static_cast<uint32_t>(std::atol(seed)) : 1);
    const std::vector<std::string> texts = short_texts(5);
    size_t compared = 0, refused = 0, accepted = 0;
    for (long i = cases != nullptr ? std::atol(cases) : 150; i > 0; --i) {
        const std::string text = random_grammar(random);
        const RuleSet rules = parse_gbnf(text, "g");
        std::optional<Automaton> automaton;
        try {
            automaton = compile(rules);
        } catch (const Error& error) {
            const std::string problem = error.problem;
            ASSERT_TRUE(problem.find("calls itself") != std::string::npos ||
                        problem == "allows no text at all")
                << text << error.what();
            for (const std::string& one : texts) {
                if (problem != "allows no text at all") break;
                ASSERT_FALSE(recognises(rules, one)) << text << one;
            }
            ++refused;
            continue;
        }
        const auto shared = std::make_shared<const Automaton>(*automaton);
        for (const std::string& one : texts) {
            const bool expected = recognises(rules, one);
            ASSERT_EQ(accepts(shared, one), expected) << text << "text: " << one;
            accepted += expected;
        }
        ++compared;
    }
    EXPECT_GT(compared, refused / 4);
    EXPECT_GT(accepted, compared);
    RecordProperty("compared", static_cast<int>(compared));
}

}  // namespace
}  // namespace tessera::grammar
