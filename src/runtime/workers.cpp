#include "runtime/workers.h"

#include <system_error>

#include <pthread.h>

#include "support/error.h"

namespace tessera {
namespace {

/// Where this fails (the mask has become smaller since), the thread runs anywhere, which is only slower.
void pin(pthread_t thread, int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(processor), &set);
    (void)pthread_setaffinity_np(thread, sizeof set, &set);
}

}  // namespace

WorkerTeam::WorkerTeam(int64_t workers, const WorkerOptions& options)
    : processors_(options.processors),
      barrier_(workers, options.spins),
      start_(options.spins),
      done_(workers, options.spins) {
    TESSERA_CHECK(workers >= 1);
    TESSERA_CHECK(processors_.empty() || static_cast<int64_t>(processors_.size()) >= workers);
    try {
        for (int64_t w = 1; w < workers; ++w) threads_.emplace_back([this, w] { serve(w); });
    } catch (const std::system_error& error) {
        stop();
        throw Error("workers", "", fmt::format("{} threads cannot be started: {}", workers, error.what()),
                    "compile with fewer --workers");
    }
    for (size_t w = 1; !processors_.empty() && w <= threads_.size(); ++w)
        pin(threads_[w - 1].native_handle(), processors_[w]);
}

WorkerTeam::~WorkerTeam() {
    stop();
    if (caller_is_pinned_ && std::this_thread::get_id() == caller_)
        (void)pthread_setaffinity_np(pthread_self(), sizeof caller_before_, &caller_before_);
}

void WorkerTeam::stop() {
    task_ = nullptr;
    start_.advance();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::pin_caller() {
    caller_ = std::this_thread::get_id();
    caller_is_pinned_ = pthread_getaffinity_np(pthread_self(), sizeof caller_before_, &caller_before_) == 0;
    if (caller_is_pinned_) pin(pthread_self(), processors_[0]);
}

void WorkerTeam::run(Task task, void* context) noexcept {
    if (!processors_.empty() && !caller_is_pinned_) pin_caller();
    task_ = task;
    context_ = context;
    start_.advance();
    task(context, 0);
    done_.arrive_and_wait();
}

void WorkerTeam::serve(int64_t worker) {
    for (uint32_t seen = 0;; ++seen) {  // every start is waited for, so none is missed
        start_.wait_while(seen);
        if (task_ == nullptr) return;
        task_(context_, worker);
        done_.arrive_and_wait();
    }
}

}  // namespace tessera
