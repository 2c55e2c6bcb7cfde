#include "run/llm/grammar_constraint.h"

#include <cmath>
#include <mutex>

#include <gtest/gtest.h>

#include "run/llm/batch_engine.h"
#include "run/llm/generate.h"
#include "run/llm/session_fake.h"
#include "run/llm/tokenizer_parts.h"
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
    constraint.accept(0);
    EXPECT_FALSE(constraint.is_complete());
    EXPECT_EQ(allowed(), (std::vector<TokenId>{1}));
    constraint.accept(1);
    EXPECT_FALSE(constraint.is_complete());
    EXPECT_EQ(allowed(), (std::vector<TokenId>{0, kEnd}));
    EXPECT_THROW(constraint.accept(2), Error);
    constraint.accept(0);
    EXPECT_TRUE(constraint.is_complete());
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

/// The texts of one batch, with the grammars' work done by `threads`.
std::vector<std::string> texts_of_batch(const std::vector<Grammar>& grammars, const GrammarThreads& threads,
                                        int64_t tokens) {
    runtime::ToyModel toy;
    const SessionOptions options{.context = 64, .sequences = 3};
    FakeStep fake(toy, Session::state_symbols(toy.manifest(), options).at("P"));
    Session session(toy.manifest(), options, fake.function());
    BatchEngine engine(session, {.sequences = 3});
    const Tokenizer tokenizer = toy_tokenizer();
    GrammarCache cache;
    std::vector<std::string> texts(grammars.size());
    for (size_t i = 0; i < grammars.size(); ++i)
        engine.submit(
            {.prompt = {1},
             .max_tokens = tokens,
             .sampling = {.temperature = 2, .seed = i},
             .stop_ids = {kEnd},
             .constraint = std::make_shared<GrammarConstraint>(cache.rules(tokenizer, grammars[i]), tokenizer,
                                                               std::vector<TokenId>{kEnd}, threads),
             .on_token =
                 [&, i](TokenId id, std::span<const float>) {
                     texts[i] += tokenizer.token_bytes(id);
                     return false;
                 },
             .on_end =
                 [&, i](const BatchEnd& end) {
                     texts[i] += fmt::format(" {} {}", static_cast<int>(end.reason), end.generated_tokens);
                 }});
    while (engine.step()) {
    }
    return texts;
}

TEST(GrammarConstraint, OtherThreadsChangeNoText) {
    const std::vector<Grammar> grammars = {
        Grammar::gbnf("root ::= [ab]{4,8}"),
        Grammar::gbnf("root ::= \"a\"{3}"),  // complete with the last token that is wanted, or before
        Grammar::gbnf("root ::= [a-c ]+ | [ab]* \"c\" root"),
        Grammar::json_object(),
        Grammar::gbnf("root ::= w+\nw ::= [a-c] | [a-c] w"),
    };
    for (const int64_t tokens : {1, 3, 30}) {
        const std::vector<std::string> expected = texts_of_batch(grammars, {}, tokens);
        WorkLanes lanes(2);
        EXPECT_EQ(texts_of_batch(grammars, {.lanes = &lanes, .on_ready = [] {}}, tokens), expected) << tokens;
    }
}

/// While one text waits for its constraint the others go on, step by step.
TEST(GrammarConstraint, ATextThatWaitsHoldsUpNoOther) {
    runtime::ToyModel toy;
    const SessionOptions options{.context = 64, .sequences = 3};
    FakeStep fake(toy, Session::state_symbols(toy.manifest(), options).at("P"));
    Session session(toy.manifest(), options, fake.function());
    BatchEngine engine(session, {.sequences = 3});
    const Tokenizer tokenizer = toy_tokenizer();
    GrammarCache cache;
    const auto rules = cache.rules(tokenizer, Grammar::gbnf("root ::= [ab]{9}"));
    WorkLanes lanes(1);
    int64_t waiting = 0, free = 0;
    std::unique_lock held(rules->mutex());  // as if another text of the grammar took long
    engine.submit({.prompt = {1},
                   .max_tokens = 4,
                   .constraint = std::make_shared<GrammarConstraint>(
                       rules, tokenizer, std::vector<TokenId>{kEnd},
                       GrammarThreads{.lanes = &lanes, .on_ready = [] {}}),
                   .on_token = [&](TokenId, std::span<const float>) { return ++waiting < 0; }});
    engine.submit({.prompt = {1}, .max_tokens = 20, .on_token = [&](TokenId, std::span<const float>) {
                       return ++free < 0;
                   }});
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(engine.step());
    EXPECT_EQ(free, 20);
    EXPECT_EQ(waiting, 0);
    EXPECT_TRUE(engine.step());
    EXPECT_TRUE(engine.awaits_constraints());
    held.unlock();
    while (engine.step()) {
    }
    EXPECT_EQ(waiting, 4);
}

}  // namespace
}  // namespace tessera::llm
