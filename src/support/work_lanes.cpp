#include "support/work_lanes.h"

#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera {
namespace {

/// A tenth of the weight of other threads. Idle priority could wait for ever on a busy machine.
constexpr int kNiceness = 10;

/// On Linux the priority belongs to the thread. Where it cannot be changed the work is done all the same.
void step_back() {
    (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNiceness);
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
        const std::lock_guard lock(mutex_);
        if (stops_) return;
        jobs.waiting.push_back(std::move(job));
    }
    jobs.added.notify_one();
}

void WorkLanes::stop() {
    std::array<std::deque<std::function<void()>>, 2> dropped;
    {
        const std::lock_guard lock(mutex_);
        stops_ = true;
        for (size_t i = 0; i < lanes_.size(); ++i) dropped[i].swap(lanes_[i].waiting);
    }
    for (Jobs& jobs : lanes_) jobs.added.notify_all();
    for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void WorkLanes::serve(Jobs& jobs) {
    std::unique_lock lock(mutex_);
    while (true) {
        jobs.added.wait(lock, [&] { return stops_ || !jobs.waiting.empty(); });
        if (stops_) return;
        std::function<void()> job = std::move(jobs.waiting.front());
        jobs.waiting.pop_front();
        lock.unlock();
        job();
        job = {};  // what it holds may be large
        lock.lock();
    }
}

}  // namespace tessera
