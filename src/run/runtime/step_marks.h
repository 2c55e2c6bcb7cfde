#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "tessera/step.h"

namespace tessera::runtime {

/// The time of a kernel in the marked steps.
struct KernelTime {
    int64_t runs = 0;             ///< repetitions of its block count
    double seconds = 0;           ///< computing, by the worker with the most to do between two meetings
    int64_t barriers = 0;         ///< before it, as counted
    double barrier_seconds = 0;   ///< from the last arrival on: until then, others wait for work
    double exchange_seconds = 0;  ///< likewise, with the other ranks behind it
    bool operator==(const KernelTime&) const = default;
};

/// Records the times at which workers begin kernels (TesseraMarkedStep), and adds up the times of kernels.
///
///   worker 0   | norm | q, k, v ...      | wait | attention          the kernels of a phase, between two
///   worker 1   | norm | q, k, v ... | wait      | attention          meetings, are those of worker 0 here
class StepMarks {
public:
    explicit StepMarks(int64_t workers);

    /// As TesseraMarkedStep::mark, on a StepMarks. Workers write apart from each other.
    static void mark(void* marks, int64_t worker, int64_t kernel, int64_t what);

    /// Adds the step that all workers have ended to the times of its specialisation, and clears its marks.
    void end_step(size_t specialisation);

    /// By specialisation and kernel, in the order of execution; as far as steps have run.
    const std::vector<std::vector<KernelTime>>& times() const { return times_; }

private:
    using Clock = std::chrono::steady_clock;
    struct Mark {
        int64_t kernel, what;
        Clock::time_point at;
    };
    struct alignas(64) OfWorker {  // no line of two
        std::vector<Mark> marks;
    };

    void add_phase(size_t begin, size_t end, std::vector<KernelTime>& times) const;
    double seconds(size_t worker, size_t mark) const;
    double meeting_seconds(size_t mark) const;

    std::vector<OfWorker> marks_;
    Clock::duration own_;  ///< between two marks with nothing between them; not charged to kernels
    std::vector<std::vector<KernelTime>> times_;
};

}  // namespace tessera::runtime
