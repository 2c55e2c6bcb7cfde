#include "support/work_lanes.h"

#include <cstdint>
#include <utility>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera {
namespace {

/// A thirtieth of the weight of other threads. Idle priority could wait for ever on a busy machine.
constexpr int kNiceness = 15;
/// A thread that waits for the processor gets it back after this time, not after the usual milliseconds.
constexpr uint64_t kSliceNanoseconds = 100'000;

/// The first version of `sched_attr` of Linux, whose header does not go together with that of the library.
struct SchedulingAttributes {
    uint32_t size = sizeof(SchedulingAttributes);
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t niceness = kNiceness;
    uint32_t priority = 0;
    uint64_t runtime = kSliceNanoseconds;
    uint64_t deadline = 0;
    uint64_t period = 0;
};

/// On Linux the priority belongs to the thread; kernels before 6.12 take no slice. If neither can be changed,
/// the work is done all the same.
void step_back() {
    SchedulingAttributes attributes;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

}  // namespace

WorkLanes::WorkLanes(int quick_threads) {
    for (int i = 0; i < quick_threads; ++i) threads_.emplace_back([this] { serve(lanes_[0]); });
    threads_.emplace_back([this] {
        step_back();
        serve(lanes_[1]);
    });
}

void WorkLanes::add(Lane lane, std::function<void()> job) {
    Jobs& jobs = lanes_[lane == Lane::kSlow ? 1 : 0];
    {
        const std::lock_guard lock(jobs.mutex);
        if (jobs.stops) return;
        jobs.waiting.push_back(std::move(job));
    }
    jobs.changed.notify_one();
}

void WorkLanes::stop() {
    for (Jobs& jobs : lanes_) {
        std::deque<std::function<void()>> dropped;
        {
            const std::lock_guard lock(jobs.mutex);
            jobs.stops = true;
            dropped.swap(jobs.waiting);
        }
        jobs.changed.notify_all();
    }
    for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void WorkLanes::serve(Jobs& jobs) {
    std::unique_lock lock(jobs.mutex);
    while (true) {
        jobs.changed.wait(lock, [&] { return jobs.stops || !jobs.waiting.empty(); });
        if (jobs.stops) return;
        std::function<void()> job = std::move(jobs.waiting.front());
        jobs.waiting.pop_front();
        lock.unlock();
        job();
        job = {};  // what it holds may be large
        lock.lock();
    }
}

}  // namespace tessera
