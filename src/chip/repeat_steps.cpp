#include "chip/repeat_steps.h"

#include <algorithm>

#include "chip/timeline.h"

namespace tessera::chip {

ScheduleProblem repeated_steps(const ScheduleProblem& step, size_t count) {
    ScheduleProblem steps = step;
    for (size_t k = 1; k < count; ++k) {
        steps.sequence.insert(steps.sequence.end(), step.sequence.begin(), step.sequence.end());
        for (Repeat repeat : step.repeats) {
            repeat.first += k * step.size();
            steps.repeats.push_back(repeat);
        }
    }
    return steps;
}

Schedule after_step_before(const ScheduleProblem& steps, const Schedule& schedule, size_t length) {
    Schedule delayed = schedule;
    const auto is_empty = [&](size_t i) {
        const Row& row = steps.at(i).rows[schedule.rows[i]];
        return row.preload_bytes == 0 && row.preload() <= 0;
    };
    // Those that preload nothing take no time and no space, so they may all come first.
    std::stable_partition(delayed.order.begin(), delayed.order.end(), is_empty);
    size_t least = 0;  // slots never fall along the order
    for (const size_t i : delayed.order) {
        if (is_empty(i)) {
            delayed.slots[i] = 0;
            continue;
        }
        if (i >= length) least = std::max(least, i - length + 1);
        least = std::max(least, schedule.slots[i]);
        delayed.slots[i] = least;
    }
    if (schedule_fault(steps, delayed).empty()) return delayed;
    for (size_t i = 0; i < delayed.order.size(); ++i) delayed.order[i] = delayed.slots[i] = i;
    return delayed;
}

}  // namespace tessera::chip
