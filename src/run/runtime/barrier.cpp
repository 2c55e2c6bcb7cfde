#include "run/runtime/barrier.h"

namespace tessera::runtime {
namespace {

/// Tells the core that this is a waiting loop: less power, and the other thread of the core gets more of it.
inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

void SpinThenSleep::wait_while(uint32_t old) const {
    for (int64_t i = 0; i < spins_; ++i) {
        if (value() != old) return;
        pause();
    }
    value_.wait(old, std::memory_order_acquire);
}

void Barrier::arrive_and_wait() {
    // Read before arriving: the round cannot end without this thread.
    const uint32_t round = round_.value();
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
        arrived_.store(0, std::memory_order_relaxed);  // visible to every thread that sees the next round
        ++rounds_;
        round_.advance();
    } else {
        round_.wait_while(round);
    }
}

}  // namespace tessera::runtime
