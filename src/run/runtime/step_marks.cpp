#include "run/runtime/step_marks.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::runtime {

StepMarks::StepMarks(int64_t workers) : marks_(static_cast<size_t>(workers)), own_(Clock::duration::max()) {
    constexpr int kMarks = 1000;
    std::vector<Mark>& marks = marks_.front().marks;
    for (int i = 0; i < kMarks; ++i) mark(this, 0, 0, kTesseraComputes);
    for (size_t m = 0; m + 1 < marks.size(); ++m) own_ = std::min(own_, marks[m + 1].at - marks[m].at);
    marks.clear();
}

void StepMarks::mark(void* marks, int64_t worker, int64_t kernel, int64_t what) {
    static_cast<StepMarks*>(marks)->marks_[static_cast<size_t>(worker)].marks.push_back(
        {kernel, what, Clock::now()});
}

double StepMarks::seconds(size_t worker, size_t mark) const {
    const std::vector<Mark>& marks = marks_[worker].marks;
    const Clock::duration between = marks[mark + 1].at - marks[mark].at;
    return std::chrono::duration<double>(std::max(between - own_, Clock::duration::zero())).count();
}

double StepMarks::meeting_seconds(size_t mark) const {
    Clock::time_point arrived, left;
    for (const OfWorker& worker : marks_) {
        arrived = std::max(arrived, worker.marks[mark].at);
        left = std::max(left, worker.marks[mark + 1].at);
    }
    return std::chrono::duration<double>(std::max(left - arrived - own_, Clock::duration::zero())).count();
}

void StepMarks::add_phase(size_t begin, size_t end, std::vector<KernelTime>& times) const {
    size_t slowest = 0;
    double most = -1;
    for (size_t worker = 0; worker < marks_.size(); ++worker) {
        double all = 0;
        for (size_t m = begin; m < end; ++m) all += seconds(worker, m);
        if (all <= most) continue;
        slowest = worker;
        most = all;
    }
    for (size_t m = begin; m < end; ++m) {
        KernelTime& kernel = times[static_cast<size_t>(marks_[slowest].marks[m].kernel)];
        ++kernel.runs;
        kernel.seconds += seconds(slowest, m);
    }
}

void StepMarks::end_step(size_t specialisation) {
    // All workers make the same marks: who has nothing to do in a kernel comes by.
    const std::vector<Mark>& marks = marks_.front().marks;
    TESSERA_CHECK(!marks.empty() && marks.back().what == kTesseraEnds, "{} marks", marks.size());
    if (times_.size() <= specialisation) times_.resize(specialisation + 1);
    std::vector<KernelTime>& times = times_[specialisation];
    times.resize(static_cast<size_t>(marks.back().kernel));
    size_t begin = 0;
    for (size_t m = 0; m < marks.size(); ++m) {
        if (marks[m].what == kTesseraComputes) continue;
        add_phase(begin, m, times);
        begin = m + 1;
        if (marks[m].what == kTesseraEnds) continue;
        KernelTime& kernel = times[static_cast<size_t>(marks[m].kernel)];
        if (marks[m].what == kTesseraExchanges) {
            kernel.exchange_seconds += meeting_seconds(m);
            continue;
        }
        ++kernel.barriers;
        kernel.barrier_seconds += meeting_seconds(m);
    }
    for (OfWorker& worker : marks_) worker.marks.clear();
}

}  // namespace tessera::runtime
