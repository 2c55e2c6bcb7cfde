#include "run/runtime/workers.h"

#include <optional>
#include <system_error>

#include <pthread.h>
#include <sched.h>

#include "machine/processors.h"
#include "support/error.h"

namespace tessera::runtime {
namespace {

/// If this fails (the mask has shrunk since), the thread runs anywhere, which is only slower.
void pin(pthread_t thread, int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(processor), &set);
    (void)pthread_setaffinity_np(thread, sizeof set, &set);
}

/// Keeps this thread on one processor, and restores its earlier ones.
class PinnedHere {
public:
    explicit PinnedHere(int processor)
        : knows_before_(pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0) {
        if (knows_before_) pin(pthread_self(), processor);
    }
    PinnedHere(const PinnedHere&) = delete;
    PinnedHere& operator=(const PinnedHere&) = delete;
    ~PinnedHere() {
        if (knows_before_) (void)pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
    }

private:
    cpu_set_t before_{};
    bool knows_before_;
};

}  // namespace

WorkerOptions one_processor_each(int64_t workers, int64_t before) {
    WorkerOptions options{.processors = machine::worker_processors()};
    if (static_cast<int64_t>(options.processors.size()) < before + workers)
        return {.processors = {}, .spins = 0};
    options.processors.erase(options.processors.begin(), options.processors.begin() + before);
    return options;
}

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
}

void WorkerTeam::stop() {
    task_ = nullptr;
    start_.advance();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(Task task, void* context) noexcept {
    std::optional<PinnedHere> pinned;
    if (!processors_.empty()) pinned.emplace(processors_[0]);
    task_ = task;
    context_ = context;
    start_.advance();
    task(context, 0);
    done_.arrive_and_wait();
}

void WorkerTeam::serve(int64_t worker) {
    for (uint32_t seen = 0;; ++seen) {  // no start is missed: every one is waited for
        start_.wait_while(seen);
        if (task_ == nullptr) return;
        task_(context_, worker);
        done_.arrive_and_wait();
    }
}

}  // namespace tessera::runtime
