#include "native/queue.h"

#include <chrono>
#include <utility>

#include "native/interpreter.h"

namespace tessera::python {
namespace {

/// How long Ctrl-C may wait for an answer.
constexpr std::chrono::milliseconds kTick{50};

}  // namespace

void TextQueue::push(std::string piece) {
    if (piece.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        pieces_.push_back(std::move(piece));
    }
    changed_.notify_all();
}

void TextQueue::finish(Generation result) {
    {
        const std::lock_guard lock(mutex_);
        result_ = std::move(result);
    }
    changed_.notify_all();
}

void TextQueue::fail(std::exception_ptr fault) {
    {
        const std::lock_guard lock(mutex_);
        fault_ = std::move(fault);
    }
    changed_.notify_all();
}

bool TextQueue::is_done() const {
    const std::lock_guard lock(mutex_);
    return result_ || fault_;
}

void TextQueue::wait(bool for_end) {
    while (true) {
        {
            const Outside interpreter;
            std::unique_lock lock(mutex_);
            const auto is_there = [&] { return result_ || fault_ || (!for_end && !pieces_.empty()); };
            if (changed_.wait_for(lock, kTick, is_there)) return;
        }
        throw_if_interrupted();
    }
}

std::optional<std::string> TextQueue::next() {
    wait(false);
    const std::lock_guard lock(mutex_);
    if (!pieces_.empty()) {
        std::string piece = std::move(pieces_.front());
        pieces_.pop_front();
        return piece;
    }
    if (fault_) std::rethrow_exception(fault_);
    return std::nullopt;
}

Generation TextQueue::result() {
    wait(true);
    const std::lock_guard lock(mutex_);
    if (fault_) std::rethrow_exception(fault_);
    return *result_;
}

}  // namespace tessera::python
