#include "run/grammar/matcher.h"

#include <utility>

namespace tessera::grammar {

Matcher::Matcher(std::shared_ptr<const Automaton> automaton)
    : automaton_(std::move(automaton)),
      pool_(std::make_unique<StackPool>(*automaton_)),
      state_(pool_->start()) {}

bool Matcher::advance(std::string_view bytes) {
    pool_->begin_work();
    StackSet next = state_;
    for (const char byte : bytes) {
        next = pool_->step(next, static_cast<uint8_t>(byte));
        if (next == StackPool::kNothing) return false;
    }
    state_ = next;
    if (pool_->is_large()) {
        auto fresh = std::make_unique<StackPool>(*automaton_);
        state_ = fresh->copy(*pool_, state_);
        pool_ = std::move(fresh);
        pool_->limit_work(most_work_);
        ++generation_;
    }
    return true;
}

}  // namespace tessera::grammar
