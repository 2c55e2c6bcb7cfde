#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace tessera::serve {

/// A request that another thread reads, and that may be cancelled before the engine knows it.
class Order {
public:
    void cancel() {
        std::unique_lock lock(mutex_);
        is_cancelled_ = true;
        const auto act = std::exchange(cancel_, {});
        lock.unlock();
        if (act) act();
    }
    /// `cancel`: of what the engine has taken; may be empty.
    void begun(std::function<void()> cancel) {
        std::unique_lock lock(mutex_);
        if (!is_cancelled_) {
            cancel_ = std::move(cancel);
            return;
        }
        lock.unlock();
        if (cancel) cancel();
    }
    bool is_cancelled() {
        const std::lock_guard lock(mutex_);
        return is_cancelled_;
    }

private:
    std::mutex mutex_;
    bool is_cancelled_ = false;
    std::function<void()> cancel_;
};

}  // namespace tessera::serve
