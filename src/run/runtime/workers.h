#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "run/runtime/barrier.h"

namespace tessera::runtime {

struct WorkerOptions {
    std::vector<int> processors;  ///< worker i runs on the i-th; empty: where the operating system likes
    /// Looks at a changed number before sleeping. A look takes about 40 cycles (the pause instruction since
    /// Skylake), so 4000 are some 50 us: longer than the work between two steps of one token, shorter than a
    /// time slice. With more workers than processors the others need the time: 0.
    int64_t spins = 4000;
};

/// Each worker on a processor of its own (machine/processors.h). If there are too few, `processors` is empty:
/// workers run anywhere, and none spins while it waits.
/// @param before processors that other processes take, such as the ranks before this one
WorkerOptions one_processor_each(int64_t workers, int64_t before = 0);

/// Threads that are started once and then called again and again. The caller is worker 0, and on the first
/// processor while it calls: the affinity mask of this process, which the next team reads, is not narrowed.
class WorkerTeam {
public:
    /// @throws Error if the threads cannot be started
    WorkerTeam(int64_t workers, const WorkerOptions& options);
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;
    ~WorkerTeam();

    /// Must not throw: one that did not arrive at the next barrier would stop the others for ever.
    using Task = void (*)(void* context, int64_t worker) noexcept;
    /// Runs the task on every worker and returns when all are done. Not to be called by two threads at once.
    void run(Task task, void* context) noexcept;
    /// Called by the task on every worker: returns when all have called it.
    void meet() noexcept { barrier_.arrive_and_wait(); }

    int64_t workers() const { return static_cast<int64_t>(threads_.size()) + 1; }
    /// Calls of `meet` by all workers together, since the beginning.
    int64_t barriers() const { return barrier_.rounds(); }
    bool is_pinned() const { return !processors_.empty(); }

private:
    void serve(int64_t worker);
    void stop();

    std::vector<int> processors_;
    Barrier barrier_;
    SpinThenSleep start_;  ///< advanced by the caller for every run, and to stop
    Barrier done_;
    Task task_ = nullptr;  ///< null: stop. Written before `start_` is advanced
    void* context_ = nullptr;
    std::vector<std::thread> threads_;
};

}  // namespace tessera::runtime
