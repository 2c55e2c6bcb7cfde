#include "run/llm/grammar_constraint.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

constexpr size_t kRecentGrammars = 4;
/// Frames of grammar::StackPool that the quick lane looks at: less than a millisecond.
constexpr size_t kQuickWork = size_t{1} << 11;

}  // namespace

/// The text so far, and what may follow it.
struct GrammarConstraint::Work {
    explicit Work(std::shared_ptr<RuleMasks> shared)
        : rules(std::move(shared)), matcher(rules->automaton()), masks(rules) {}

    std::shared_ptr<RuleMasks> rules;
    grammar::Matcher matcher;
    TokenMasks masks;
    std::string arrived;  ///< bytes that the matcher has not taken yet
    TokenMask allowed;    ///< without ends
    bool may_end = false;
    bool is_complete = false;
    std::optional<Error> fault;       ///< of the text
    std::optional<Error> mask_fault;  ///< of what may follow
    std::atomic<bool> is_ready = true;

    /// Does the work as far as the limit allows. False: there is more than that, or the rules are in use.
    bool run(bool is_quick) {
        std::unique_lock lock(rules->mutex(), std::defer_lock);
        if (is_quick ? !lock.try_lock() : (lock.lock(), false)) return false;
        const size_t most = is_quick ? kQuickWork : grammar::StackPool::kMostWork;
        rules->limit_work(most);
        matcher.limit_work(most);
        try {
            if (!take_arrived()) return true;
            is_complete = !matcher.may_go_on();
            may_end = matcher.may_end();
            if (is_complete)
                allowed = TokenMask(rules->trie().vocabulary_size());
            else
                make_mask();
        } catch (const grammar::WorkIsLeft&) {
            return false;
        }
        return true;
    }

private:
    bool take_arrived() {
        try {
            // The mask allowed the token, so the grammar takes its bytes.
            TESSERA_CHECK(arrived.empty() || matcher.advance(arrived), "{}", arrived);
            arrived.clear();
        } catch (const Error& error) {
            fault = error;
        }
        return !fault;
    }

    void make_mask() {
        try {
            allowed = masks.of(matcher);
        } catch (const Error& error) {
            mask_fault = error;
        }
    }
};

GrammarConstraint::GrammarConstraint(std::shared_ptr<RuleMasks> rules, Tokenizer tokenizer,
                                     std::vector<TokenId> ends, GrammarThreads threads)
    : tokenizer_(std::move(tokenizer)),
      ends_(std::move(ends)),
      threads_(std::move(threads)),
      work_(std::make_shared<Work>(std::move(rules))) {
    begin();
}

bool GrammarConstraint::is_ready() const {
    return work_->is_ready.load(std::memory_order_acquire);
}

/// Works out what follows the text, here or in other threads.
void GrammarConstraint::begin() {
    if (threads_.lanes == nullptr) {
        (void)work_->run(false);
        return;
    }
    work_->is_ready = false;
    // A text that has ended meanwhile needs no answer.
    const auto run = [weak = std::weak_ptr(work_), on_ready = threads_.on_ready](bool is_quick) {
        const auto work = weak.lock();
        if (!work) return true;
        if (!work->run(is_quick)) return false;
        work->is_ready.store(true, std::memory_order_release);
        on_ready();
        return true;
    };
    threads_.lanes->add(WorkLanes::Lane::kQuick, [run, lanes = threads_.lanes] {
        if (!run(true)) lanes->add(WorkLanes::Lane::kSlow, [run] { (void)run(false); });
    });
}

std::span<const float> GrammarConstraint::restricted(std::span<const float> logits) {
    TESSERA_CHECK(is_ready());
    if (work_->fault) throw Error(*work_->fault);
    if (work_->mask_fault) throw Error(*work_->mask_fault);
    TokenMask& allowed = work_->allowed;
    for (const TokenId id : ends_) {
        if (!work_->may_end)
            allowed.clear(id);
        else if (id >= 0 && static_cast<size_t>(id) < std::min(logits.size(), tokenizer_.vocabulary_size()))
            allowed.set(id);
    }
    if (allowed.is_empty())
        throw Error("grammar", "", "no token of the vocabulary goes on as the grammar wants",
                    work_->may_end ? "the model has no token that ends a text"
                                   : "its characters may be missing in the vocabulary");
    logits_.assign(logits.begin(), logits.end());
    for (size_t i = 0; i < logits_.size(); ++i)
        if (!allowed.holds(static_cast<TokenId>(i))) logits_[i] = -std::numeric_limits<float>::infinity();
    return logits_;
}

void GrammarConstraint::accept(TokenId id) {
    TESSERA_CHECK(is_ready());
    std::string bytes = grammar_bytes(tokenizer_, id);
    if (bytes.empty() || !work_->allowed.holds(id))
        throw Error("grammar", "", "all tokens that the grammar allows are forbidden otherwise",
                    "take back biases of minus infinity");
    work_->arrived = std::move(bytes);
    begin();
}

bool GrammarConstraint::is_complete() const {
    TESSERA_CHECK(is_ready());
    if (work_->fault) throw Error(*work_->fault);
    return work_->is_complete;
}

std::shared_ptr<RuleMasks> GrammarCache::rules(const Tokenizer& tokenizer, const Grammar& grammar) {
    const std::lock_guard lock(mutex_);
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
