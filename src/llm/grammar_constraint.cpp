#include "llm/grammar_constraint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

constexpr size_t kRecentGrammars = 4;

}  // namespace

GrammarConstraint::GrammarConstraint(std::shared_ptr<RuleMasks> rules, Tokenizer tokenizer,
                                     std::vector<TokenId> ends)
    : tokenizer_(std::move(tokenizer)),
      ends_(std::move(ends)),
      matcher_(rules->automaton()),
      masks_(std::move(rules)) {}

std::span<const float> GrammarConstraint::restricted(std::span<const float> logits) {
    TokenMask allowed = masks_.of(matcher_);
    for (const TokenId id : ends_) {
        if (!matcher_.may_end())
            allowed.clear(id);
        else if (id >= 0 && static_cast<size_t>(id) < std::min(logits.size(), tokenizer_.vocabulary_size()))
            allowed.set(id);
    }
    if (allowed.is_empty())
        throw Error("grammar", "", "no token of the vocabulary goes on as the grammar wants",
                    matcher_.may_end() ? "the model has no token that ends a text"
                                       : "its characters may be missing in the vocabulary");
    logits_.assign(logits.begin(), logits.end());
    for (size_t i = 0; i < logits_.size(); ++i)
        if (!allowed.holds(static_cast<TokenId>(i))) logits_[i] = -std::numeric_limits<float>::infinity();
    return logits_;
}

bool GrammarConstraint::accept(TokenId id) {
    const bool is_known = id >= 0 && static_cast<size_t>(id) < tokenizer_.vocabulary_size();
    const std::string bytes = is_known && !tokenizer_.is_special(id) ? tokenizer_.token_bytes(id) : "";
    if (bytes.empty() || !matcher_.advance(bytes))
        throw Error("grammar", "", "all tokens that the grammar allows are forbidden otherwise",
                    "take back biases of minus infinity");
    return !matcher_.may_go_on();
}

std::shared_ptr<RuleMasks> GrammarCache::rules(const Tokenizer& tokenizer, const Grammar& grammar) {
    if (!trie_) trie_ = std::make_shared<const TokenTrie>(tokenizer);
    const auto known = std::find_if(recent_.begin(), recent_.end(), [&](const auto& rules) {
        return rules->automaton() == grammar.automaton() || *rules->automaton() == *grammar.automaton();
    });
    std::shared_ptr<RuleMasks> rules;
    if (known != recent_.end()) {
        rules = *known;
        recent_.erase(known);
    } else {
        rules = std::make_shared<RuleMasks>(grammar.automaton(), trie_);
    }
    recent_.push_front(rules);
    if (recent_.size() > kRecentGrammars) recent_.pop_back();
    return rules;
}

}  // namespace tessera::llm
