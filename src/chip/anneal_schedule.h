#pragma once

#include <cstdint>
#include <functional>

#include "chip/earliest_timeline.h"

namespace tessera::chip {

struct AnnealOptions {
    int64_t work = 10'000'000;  ///< executes that are run, at most
    uint64_t seed = 0;
    double first_temperature = 0.1;  ///< of the mean time for each preload: accepted losses at the begin
    double last_temperature = 2e-4;  ///< and at the end
    bool change_rows = true;         ///< kinds of changes
    bool change_order = true;
    bool change_leads = true;
    bool tie_copies = true;  ///< changes of all copies of a repeat at once, besides those of one
    std::function<bool()> must_stop = {};  ///< asked now and then
};

/// The best choice that simulated annealing finds from `start` on: rows, order and leads change one or two at
/// a time, and the timeline with all its contention is the judge. Deterministic.
/// @pre EarliestTimeline(problem, start).total() is finite
Choice anneal_schedule(const ScheduleProblem& problem, const Choice& start,
                       const AnnealOptions& options = {});

}  // namespace tessera::chip
