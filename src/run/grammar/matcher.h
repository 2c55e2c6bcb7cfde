#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "run/grammar/automaton.h"
#include "run/grammar/stack_pool.h"

namespace tessera::grammar {

/// An unfinished text and its possible continuations. It takes bytes, so a text may end inside a character
/// for a while. Its memory is bounded, whatever the text: old sets of stacks are dropped.
class Matcher {
public:
    explicit Matcher(std::shared_ptr<const Automaton> automaton);

    /// Takes more of the text; if the grammar does not allow it, takes nothing and returns false.
    /// @throws Error if the text can be read in too many ways, WorkIsLeft beyond the limit of the work
    bool advance(std::string_view bytes);
    /// True if the text may end here.
    bool may_end() const { return pool_->may_end(state_); }
    /// True if anything may follow.
    bool may_go_on() const { return !pool_->frames(state_).empty(); }

    /// StackPool::limit_work
    void limit_work(size_t work) { pool_->limit_work(most_work_ = work); }
    StackPool& pool() { return *pool_; }
    StackSet state() const { return state_; }
    /// Sets of stacks become invalid when this increases.
    uint64_t generation() const { return generation_; }
    const std::shared_ptr<const Automaton>& automaton() const { return automaton_; }

private:
    std::shared_ptr<const Automaton> automaton_;
    std::unique_ptr<StackPool> pool_;
    StackSet state_;
    size_t most_work_ = StackPool::kMostWork;
    uint64_t generation_ = 0;
};

}  // namespace tessera::grammar
