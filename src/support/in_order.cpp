#include "support/in_order.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "support/error.h"

// There is no taking thread: the thread that has made the due piece takes it, and the ready ones behind it.

namespace tessera {
namespace {

class Run {
public:
    Run(const OrderedPieces& pieces, size_t threads) : pieces_(pieces), most_(2 * threads) {}

    void work() {
        std::unique_lock lock(mutex_);
        std::vector<std::byte> buffer;
        while (true) {
            changed_.wait(lock, [&] { return is_over() || next_ < due_ + most_; });
            if (is_over()) return;
            const size_t piece = next_++;
            if (!spare_.empty()) {
                buffer = std::move(spare_.back());
                spare_.pop_back();
            }
            if (!attempt(lock, piece, [&] { pieces_.make(piece, buffer); })) return;
            made_.emplace(piece, std::exchange(buffer, {}));
            take_ready(lock);
        }
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    bool is_over() const { return failure_ || next_ == pieces_.count; }

    /// Without the lock.
    template <typename Call>
    bool attempt(std::unique_lock<std::mutex>& lock, size_t piece, Call&& call) {
        std::exception_ptr failure;
        lock.unlock();
        try {
            call();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (!failure) return true;
        if (!failure_ || piece < failed_) failure_ = failure, failed_ = piece;
        changed_.notify_all();
        return false;
    }

    void take_ready(std::unique_lock<std::mutex>& lock) {
        if (is_taking_) return;
        is_taking_ = true;
        for (auto due = made_.find(due_); due != made_.end() && !failure_; due = made_.find(due_)) {
            std::vector<std::byte> bytes = std::move(due->second);
            made_.erase(due);
            if (!attempt(lock, due_, [&] { pieces_.take(due_, bytes); })) break;
            spare_.push_back(std::move(bytes));
            ++due_;
            changed_.notify_all();
        }
        is_taking_ = false;
    }

    const OrderedPieces& pieces_;
    size_t most_;  ///< pieces in memory
    std::mutex mutex_;
    std::condition_variable changed_;
    size_t next_ = 0;  ///< to be made
    size_t due_ = 0;   ///< to be taken
    bool is_taking_ = false;
    std::map<size_t, std::vector<std::byte>> made_;
    std::vector<std::vector<std::byte>> spare_;
    size_t failed_ = 0;
    std::exception_ptr failure_;
};

}  // namespace

void run_in_order(const OrderedPieces& pieces, size_t threads) {
    TESSERA_CHECK(threads >= 1);
    Run run(pieces, threads);
    {
        std::vector<std::jthread> others;
        while (others.size() + 1 < std::min(threads, pieces.count)) others.emplace_back([&] { run.work(); });
        run.work();
    }
    run.rethrow();
}

void run_at_once(size_t count, const std::function<void(size_t)>& work) {
    const OrderedPieces pieces{.count = count,
                               .make = [&](size_t at, std::vector<std::byte>&) { work(at); },
                               .take = [](size_t, std::span<const std::byte>) {}};
    run_in_order(pieces, std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace tessera
