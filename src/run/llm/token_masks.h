#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "run/grammar/matcher.h"
#include "run/llm/token_mask.h"
#include "run/llm/token_trie.h"

namespace tessera::llm {

/// The tokens of a vocabulary that the rules of one grammar allow, whatever has called them. Shared by all
/// texts that follow the grammar; used by one thread at a time, which holds `mutex`.
class RuleMasks {
public:
    RuleMasks(std::shared_ptr<const grammar::Automaton> automaton, std::shared_ptr<const TokenTrie> trie);

    struct Mask {
        TokenMask inside;              ///< tokens that stay in the rule, or end with it
        std::vector<uint32_t> leaves;  ///< nodes of the trie at which the rule may end
        bool is_open = false;          ///< the rule may end nearly everywhere: not worth telling apart
    };
    /// The mask of a rule that has reached one of these states. @throws as grammar::StackPool
    const Mask& of(std::span<const grammar::StateId> states);
    /// StackPool::limit_work
    void limit_work(size_t work);
    std::mutex& mutex() { return mutex_; }

    const std::shared_ptr<const grammar::Automaton>& automaton() const { return automaton_; }
    const TokenTrie& trie() const { return *trie_; }

private:
    void begin_pool();

    struct HashOfStates {
        size_t operator()(const std::vector<grammar::StateId>& states) const;
    };

    std::shared_ptr<const grammar::Automaton> automaton_;
    std::shared_ptr<const TokenTrie> trie_;
    std::unique_ptr<grammar::StackPool> pool_;
    size_t most_work_ = grammar::StackPool::kMostWork;
    std::mutex mutex_;
    std::unordered_map<std::vector<grammar::StateId>, Mask, HashOfStates> masks_;
    size_t bytes_ = 0;  ///< of the masks
};

/// The tokens that may follow a text. A walk over the whole vocabulary for every token of a text would take
/// milliseconds, so it is done once for the states of a rule: a string of JSON allows nearly every token,
/// wherever it is. Only tokens that lead out of the rule are looked at again, with its callers. Masks of
/// whole texts are kept as well.
///
///     "ab|     in `string`: every token without a quote; `"`, `",`, `"}`, .. leave it at their first byte
class TokenMasks {
public:
    explicit TokenMasks(std::shared_ptr<RuleMasks> rules);

    /// The mask after this text, valid until the next call. @throws as RuleMasks::of
    const TokenMask& of(grammar::Matcher& matcher);

private:
    void add_group(grammar::StackPool& pool, grammar::StackSet below,
                   std::span<const grammar::StateId> states, TokenMask& mask);

    std::shared_ptr<RuleMasks> rules_;
    std::unordered_map<grammar::StackSet, TokenMask> known_;
    uint64_t generation_ = 0;  ///< of the matcher that they were computed for
};

}  // namespace tessera::llm
