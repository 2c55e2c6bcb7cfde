#include "run/llm/token_masks.h"

#include <chrono>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "run/grammar/json_schema.h"
#include "run/grammar/parse_gbnf.h"
#include "run/grammar/random_grammar.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using grammar::Automaton;
using Tokens = std::vector<std::pair<std::string, TokenId>>;

std::shared_ptr<const Automaton> automaton_of(const grammar::RuleSet& rules) {
    return std::make_shared<const Automaton>(grammar::compile(rules));
}

TEST(TokenTrie, HasEveryBeginningOnce) {
    const TokenTrie trie(Tokens{{"abc", 3}, {"ad", 1}, {"", 0}, {"abc", 5}, {"b", 2}, {"a", 7}});
    ASSERT_EQ(trie.nodes().size(), 5U);
    std::vector<uint32_t> ends;
    std::string bytes;
    for (const TokenTrie::Node& node : trie.nodes()) {
        ends.push_back(node.end);
        bytes += static_cast<char>(node.byte);
    }
    EXPECT_EQ(bytes, "abcdb");
    EXPECT_EQ(ends, (std::vector<uint32_t>{4, 3, 3, 4, 5}));
    EXPECT_EQ(trie.tokens(), (std::vector<TokenId>{7, 3, 5, 1, 2}));
    EXPECT_EQ(trie.nodes()[2].last_token - trie.nodes()[2].first_token, 2U);
    EXPECT_EQ(trie.depth(), 3U);
    EXPECT_EQ(trie.vocabulary_size(), 8U);
}

/// Random texts of the alphabet as tokens, parts of characters among them.
Tokens random_tokens(std::mt19937& random) {
    Tokens tokens;
    for (const char* byte : {"a", "b", "\xc3", "\xa9", "c"})
        tokens.emplace_back(byte, static_cast<TokenId>(tokens.size()));
    for (int i = 0; i < 60; ++i) {
        std::string text;
        for (uint32_t length = 1 + random() % 5; length > 0; --length)
            text += std::vector<std::string>{"a", "b", "\xc3", "\xa9", "\xc3\xa9"}[random() % 5];
        tokens.emplace_back(text, static_cast<TokenId>(tokens.size()));
    }
    return tokens;
}

/// Follows a random text token by token, and tries every token at every place.
void follow(const std::shared_ptr<const Automaton>& automaton, std::mt19937& random,
            const std::string& shown) {
    const Tokens tokens = random_tokens(random);
    const auto rules = std::make_shared<RuleMasks>(automaton, std::make_shared<const TokenTrie>(tokens));
    for (int text = 0; text < 3; ++text) {
        grammar::Matcher matcher(automaton);
        TokenMasks masks(rules);
        for (int length = 0; length < 12; ++length) {
            const TokenMask mask = masks.of(matcher);
            std::vector<TokenId> possible;
            for (const auto& [bytes, id] : tokens) {
                grammar::Matcher next(automaton);
                // The state of a text is what its bytes have made of it.
                const grammar::StackSet state = next.pool().copy(matcher.pool(), matcher.state());
                grammar::StackSet after = state;
                for (const char byte : bytes) after = next.pool().step(after, static_cast<uint8_t>(byte));
                ASSERT_EQ(mask.holds(id), after != grammar::StackPool::kNothing)
                    << shown << "token " << bytes;
                if (mask.holds(id)) possible.push_back(id);
            }
            if (possible.empty()) break;
            ASSERT_TRUE(
                matcher.advance(tokens[static_cast<size_t>(possible[random() % possible.size()])].first));
        }
    }
}

TEST(TokenMasks, AllowWhatTheGrammarTakesByteByByte) {
    std::mt19937 random(5);
    int compared = 0;
    while (compared < 60) {
        const std::string text = grammar::random_grammar(random);
        std::shared_ptr<const Automaton> automaton;
        try {
            automaton = automaton_of(grammar::parse_gbnf(text, "g"));
        } catch (const Error&) {
            continue;
        }
        follow(automaton, random, text);
        ++compared;
    }
}

/// Rules that call each other, so that tokens reach from one into the next.
TEST(TokenMasks, LeadOutOfRules) {
    std::mt19937 random(6);
    const std::string text =
        "root ::= one (one | two)* \"a\"\n"
        "one ::= [ab]{1,3} \"\\u00e9\" (\"a\" | two) \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"?\n"
        "two ::= \"b\" (two | one)? \"\\u00e9aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"? \"a\"";
    for (int i = 0; i < 20; ++i) follow(automaton_of(grammar::parse_gbnf(text, "g")), random, text);
}

TEST(TokenMasks, HaveALimitOfWork) {
    // Every token reads the text in as many ways as there are counts, and each way is another state.
    std::string text = "root ::= (";
    for (int i = 0; i < 300; ++i) text += (i > 0 ? " | r" : "r") + std::to_string(i);
    text += ")*\n";
    for (int i = 0; i < 300; ++i)
        text += "r" + std::to_string(i) + " ::= [a-c]{1," + std::to_string(100 + i) + "} \"" +
                std::to_string(i) + "\"\n";
    std::mt19937 random(1);
    Tokens tokens;
    for (int i = 0; i < 30'000; ++i) {
        std::string bytes;
        for (int length = 0; length < 12; ++length) bytes += static_cast<char>('a' + random() % 3);
        tokens.emplace_back(bytes, i);
    }
    const auto automaton = automaton_of(grammar::parse_gbnf(text, "g"));
    const auto rules = std::make_shared<RuleMasks>(automaton, std::make_shared<const TokenTrie>(tokens));
    const auto start = std::chrono::steady_clock::now();
    try {
        for (int i = 0; i < 3; ++i) {
            grammar::Matcher matcher(automaton);
            TokenMasks masks(rules);
            for (int length = 0; length < 20; ++length) {
                (void)masks.of(matcher);
                (void)matcher.advance("abcabc");
            }
        }
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("in too many ways"), std::string::npos) << error.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace tessera::llm
