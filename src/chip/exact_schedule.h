#pragma once

#include <cstdint>

#include "chip/schedule_problem.h"

namespace tessera::chip {

struct ExactOptions {
    int64_t nodes = 100'000'000;  ///< decisions that are looked at, at most
    bool cut_by_bound = true;     ///< leaves what cannot be shorter than the best one
    bool merge_states = true;     ///< leaves a state that was reached earlier in time before
};

struct ExactResult {
    Schedule best;           ///< the start, if nothing is shorter
    double total = 0;        ///< of it
    bool is_proved = false;  ///< no valid schedule is shorter (by more than 1e-12 of it)
    int64_t nodes = 0;
};

/// Looks at every schedule that may be shorter than `start`, rows, orders and slots. For problems of some ten
/// positions. @pre `start` is valid
ExactResult exact_schedule(const ScheduleProblem& problem, const Schedule& start,
                           const ExactOptions& options = {});

}  // namespace tessera::chip
