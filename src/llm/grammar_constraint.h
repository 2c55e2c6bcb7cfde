#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "grammar/matcher.h"
#include "llm/token_masks.h"
#include "llm/tokenizer.h"
#include "tessera/grammar.h"

namespace tessera::llm {

/// Keeps one text inside of a grammar: takes from the logits whatever may not come next.
class GrammarConstraint {
public:
    /// `ends`: tokens that end a text. They come where the grammar may end, and nowhere else.
    /// @throws Error where the grammar can be read in too many ways
    GrammarConstraint(std::shared_ptr<RuleMasks> rules, Tokenizer tokenizer, std::vector<TokenId> ends);

    /// The logits with minus infinity for every token that may not come next. The span lives until the next
    /// call. @throws Error if no token may come
    std::span<const float> restricted(std::span<const float> logits);
    /// Takes the next token of the text, which is no end. @return whether the text is complete: nothing may
    /// follow. @throws Error for a token that may not come
    bool accept(TokenId id);

private:
    Tokenizer tokenizer_;
    std::vector<TokenId> ends_;
    grammar::Matcher matcher_;
    TokenMasks masks_;
    std::vector<float> logits_;
};

/// The tables that texts of one vocabulary share, of the grammars that were used last. For one thread.
class GrammarCache {
public:
    std::shared_ptr<RuleMasks> rules(const Tokenizer& tokenizer, const Grammar& grammar);

private:
    std::shared_ptr<const TokenTrie> trie_;
    std::deque<std::shared_ptr<RuleMasks>> recent_;  ///< the last used one first
};

}  // namespace tessera::llm
