#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "run/grammar/matcher.h"
#include "run/llm/token_masks.h"
#include "run/llm/tokenizer.h"
#include "support/work_lanes.h"
#include "tessera/grammar.h"

namespace tessera::llm {

/// Threads that compute what a grammar allows while the model computes.
struct GrammarThreads {
    WorkLanes* lanes = nullptr;           ///< null: the caller of the constraint does the work
    std::function<void()> on_ready = {};  ///< called by these threads, whenever a constraint has become ready
};

/// Keeps one text within a grammar: masks the logits of tokens that may not come next. The mask follows from
/// the text alone, so it is computed as soon as a token is taken, while the model computes the logits. A
/// token in an ambiguous grammar may take seconds of work, which is then done in the slow lane; it is bounded
/// by StackPool::kMostWork, and remembered.
class GrammarConstraint {
public:
    /// @param ends tokens that end a text: allowed only where the grammar may end
    /// @throws Error where the grammar can be read in too many ways
    GrammarConstraint(std::shared_ptr<RuleMasks> rules, Tokenizer tokenizer, std::vector<TokenId> ends,
                      GrammarThreads threads = {});

    /// False while threads are at work. All functions below require true.
    bool is_ready() const;
    /// The logits with minus infinity for every token that may not come next. The span lives until the next
    /// call. @throws Error if no token may come
    std::span<const float> restricted(std::span<const float> logits);
    /// Takes the next token of the text, which is not an end. @throws Error for a token that may not come
    void accept(TokenId id);
    /// True if nothing may follow. @throws Error if the text can be read in too many ways
    bool is_complete() const;

private:
    struct Work;
    void begin();

    Tokenizer tokenizer_;
    std::vector<TokenId> ends_;
    GrammarThreads threads_;
    std::shared_ptr<Work> work_;  ///< of the threads until it is ready
    std::vector<float> logits_;
};

/// The tables of the grammars that were used last, shared by the texts of one vocabulary. Any thread may call
/// it.
class GrammarCache {
public:
    std::shared_ptr<RuleMasks> rules(const Tokenizer& tokenizer, const Grammar& grammar);

private:
    std::mutex mutex_;
    std::shared_ptr<const TokenTrie> trie_;
    std::deque<std::shared_ptr<RuleMasks>> recent_;  ///< the last used one first
};

}  // namespace tessera::llm
