#pragma once

#include "chip/schedule_problem.h"
#include "chip/timeline.h"

namespace tessera::chip {

/// The total of a schedule in parts, cycles: what the allocation of paper 003, 4.3 minimises, and the rest.
struct ScheduleTerms {
    double compute = 0;             ///< tiles (term 1)
    double distribute = 0;          ///< data distribution (term 2)
    double contention = 0;          ///< by which full links make executes longer (term 3)
    double access = 0;              ///< exchange between cores, for which they wait with their SRAM (term 4)
    double wait = 0;                ///< in front of executes, for their preloads
    double preload_contention = 0;  ///< by which full links make preloads longer; no part of the total

    double total() const { return compute + distribute + contention + access + wait; }
};

ScheduleTerms terms_of(const ScheduleProblem& problem, const Schedule& schedule, const Timeline& timeline);

}  // namespace tessera::chip
