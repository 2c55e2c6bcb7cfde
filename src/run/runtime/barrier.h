#pragma once

#include <atomic>
#include <cstdint>

namespace tessera::runtime {

/// A number that threads wait for: they look at it `spins` times, then sleep until it changes.
class SpinThenSleep {
public:
    explicit SpinThenSleep(int64_t spins) : spins_(spins) {}

    uint32_t value() const { return value_.load(std::memory_order_acquire); }
    /// Publishes what this thread has written, and wakes all that wait.
    void advance() {
        value_.fetch_add(1, std::memory_order_release);
        value_.notify_all();
    }
    /// Returns when the value is no longer `old`; sees everything that the advancing thread has written.
    void wait_while(uint32_t old) const;

private:
    int64_t spins_;
    std::atomic<uint32_t> value_ = 0;
};

/// All of `threads` threads must arrive before any goes on. The last one to arrive opens the barrier and with
/// it the next round, so that one barrier serves any number of times in a row.
class Barrier {
public:
    Barrier(int64_t threads, int64_t spins) : threads_(threads), round_(spins) {}

    void arrive_and_wait();
    /// The number of times that all have met. To be called by a thread that has, while none arrives.
    int64_t rounds() const { return rounds_; }

private:
    int64_t threads_;
    // Arrivals and the round that waits for them are written at different times: a line each.
    alignas(64) std::atomic<int64_t> arrived_ = 0;
    int64_t rounds_ = 0;  ///< written by the last to arrive, between two rounds
    alignas(64) SpinThenSleep round_;
};

}  // namespace tessera::runtime
