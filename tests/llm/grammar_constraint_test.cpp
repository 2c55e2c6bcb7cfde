#include "llm/grammar_constraint.h"

#include <cmath>

#include <gtest/gtest.h>

#include "llm/batch_engine.h"
#include "llm/generate.h"
#include "llm/session_fake.h"
#include "llm/tokenizer_parts.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// 22 texts and an end, for the toy model's 23 logits.
Tokenizer toy_tokenizer() {
    TokenizerParts parts;
    const std::vector<std::string> texts = {"a", "b", "c",  "{",   "}",   "\"",  ":",    ",",
                                            " ", "1", "2",  "{\"", "\":", "\"}", "true", "null",
                                            "[", "]", "ab", "\n",  "é",   "\\"};
    for (const std::string& text : texts)
        parts.vocabulary.add(static_cast<TokenId>(parts.vocabulary.size()), text);
    parts.added.push_back({.id = 22, .content = "</s>", .special = true});
    parts.eos = {22};
    return Tokenizer(std::move(parts));
}

constexpr TokenId kEnd = 22;

struct GrammarBench {
    GrammarBench() : fake(toy, 8), session(toy.manifest(), {.context = 128}, fake.function()) {}

    Generation generate(const Grammar& grammar, uint64_t seed, int64_t tokens = 120) {
        KeptSequence kept(session);
        const std::vector<TokenId> prompt = {1, 2};
        const Tokenizer tokenizer = toy_tokenizer();
        return kept.generate(
            &tokenizer, prompt,
            {.max_tokens = tokens, .sampling = {.temperature = 2, .seed = seed}, .grammar = grammar});
    }

    runtime::ToyModel toy;
    FakeStep fake;
    Session session;
};

TEST(GrammarConstraint, EveryTextThatEndsIsOfTheGrammar) {
    GrammarBench bench;
    const std::vector<Grammar> grammars = {
        Grammar::gbnf("root ::= [a-c]{3,9} | \"é\" root"),
        Grammar::gbnf("root ::= (\"[\" root* \"]\" | \"1\")"),
        Grammar::json_schema(R"({"type": "array", "items": {"enum": [1, 2, true]}, "maxItems": 5})"),
        Grammar::json_object(),
    };
    int complete = 0, ended = 0;
    for (const Grammar& grammar : grammars)
        for (uint64_t seed = 0; seed < 40; ++seed) {
            const Generation result = bench.generate(grammar, seed);
            const bool is_whole =
                result.reason == StopReason::kComplete || result.reason == StopReason::kStopId;
            EXPECT_TRUE(is_whole || result.reason == StopReason::kMaxTokens);
            EXPECT_TRUE(!is_whole || grammar.accepts(result.text)) << result.text;
            complete += result.reason == StopReason::kComplete;
            ended += result.reason == StopReason::kStopId;
        }
    EXPECT_GT(complete, 20);
    EXPECT_GT(ended, 5);
}

TEST(GrammarConstraint, TheEndComesWhereTheGrammarMayEnd) {
    GrammarCache cache;
    const Tokenizer tokenizer = toy_tokenizer();
    GrammarConstraint constraint(cache.rules(tokenizer, Grammar::gbnf("root ::= \"ab\" \"a\"?")), tokenizer,
                                 {kEnd});
    const std::vector<float> logits(25, 1);
    const auto allowed = [&] {
        std::vector<TokenId> ids;
        const auto row = constraint.restricted(logits);
        for (size_t i = 0; i < row.size(); ++i)
            if (!std::isinf(row[i])) ids.push_back(static_cast<TokenId>(i));
        return ids;
    };
    EXPECT_EQ(allowed(), (std::vector<TokenId>{0, 18}));
    EXPECT_FALSE(constraint.accept(0));
    EXPECT_EQ(allowed(), (std::vector<TokenId>{1}));
    EXPECT_FALSE(constraint.accept(1));
    EXPECT_EQ(allowed(), (std::vector<TokenId>{0, kEnd}));
    EXPECT_TRUE(constraint.accept(0));
}

TEST(GrammarConstraint, SaysWhereTheVocabularyEnds) {
    GrammarBench bench;
    try {
        (void)bench.generate(Grammar::gbnf("root ::= \"axe\""), 0);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(
            error.what(),
            "grammar: no token of the vocabulary goes on as the grammar wants (its characters may be missing "
            "in the vocabulary)");
    }
}

TEST(GrammarConstraint, TablesAreSharedByEqualGrammars) {
    GrammarCache cache;
    const Tokenizer tokenizer = toy_tokenizer();
    const auto first = cache.rules(tokenizer, Grammar::gbnf("root ::= \"a\""));
    EXPECT_EQ(first, cache.rules(tokenizer, Grammar::gbnf("root ::= \"a\" # again")));
    EXPECT_NE(first, cache.rules(tokenizer, Grammar::gbnf("root ::= \"b\"")));
    for (const char* text : {"c", "d", "e"})
        (void)cache.rules(tokenizer, Grammar::gbnf("root ::= \"" + std::string(text) + "\""));
    EXPECT_NE(first, cache.rules(tokenizer, Grammar::gbnf("root ::= \"a\"")));
}

TEST(GrammarConstraint, TextsOfABatchHaveGrammarsOfTheirOwn) {
    runtime::ToyModel toy;
    const SessionOptions options{.context = 64, .sequences = 3};
    FakeStep fake(toy, Session::state_symbols(toy.manifest(), options).at("P"));
    Session session(toy.manifest(), options, fake.function());
    BatchEngine engine(session, {.sequences = 3});
    const Tokenizer tokenizer = toy_tokenizer();
    GrammarCache cache;
    const std::vector<Grammar> grammars = {Grammar::gbnf("root ::= [ab]{4,8}"),
                                           Grammar::gbnf("root ::= [12]{4,8}"),
                                           Grammar::gbnf("root ::= \"x\"")};
    std::vector<std::string> texts(3);
    std::vector<BatchEnd> ends(3);
    for (size_t i = 0; i < 3; ++i)
        engine.submit({.prompt = {1},
                       .max_tokens = 40,
                       .sampling = {.temperature = 2, .seed = i},
                       .stop_ids = {kEnd},
                       .constraint = std::make_shared<GrammarConstraint>(
                           cache.rules(tokenizer, grammars[i]), tokenizer, std::vector<TokenId>{kEnd}),
                       .on_token =
                           [&, i](TokenId id, std::span<const float> logits) {
                               texts[i] += tokenizer.token_bytes(id);
                               EXPECT_FALSE(std::isinf(logits[0])) << "the model's own";
                               return false;
                           },
                       .on_end = [&, i](const BatchEnd& end) { ends[i] = end; }});
    while (engine.step()) {
    }
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(grammars[i].accepts(texts[i])) << texts[i];
        EXPECT_FALSE(ends[i].fault);
    }
    ASSERT_TRUE(ends[2].fault);
    EXPECT_NE(std::string(ends[2].fault->what()).find("no token of the vocabulary"), std::string::npos);
}

}  // namespace
}  // namespace tessera::llm
