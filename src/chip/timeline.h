#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// Speeds of an execute and a preload that run together, relative to each alone.
struct Speeds {
    double execute = 1;
    double preload = 1;
};

/// The part of an execute's traffic for which a preload waits that ends at any moment of it. Of a preload
/// that is longer than the traffic, the end is within it with the probability of their lengths' ratio, and
/// then waits for half of it. A shorter one waits from half of its length on.
inline double waiting_part(double traffic, double preload) {
    return traffic < preload ? traffic / preload / 2 : 1 - preload / traffic / 2;
}

/// Speeds of an execute and a preload that run together, with their link shares u and v: a u + b v <= 1
/// (docs/chip.md, rule 4).
inline Speeds speeds(Share share, const LinkUse& execute, const LinkUse& preload) {
    const double u = execute.share, v = preload.share;
    if (share == Share::kPhases && u > 0) {
        const double waiting = 1 - u * waiting_part(execute.cycles, preload.cycles);
        return {1, u + v <= 1 ? waiting : std::min(waiting, (1 - u) / v)};
    }
    if (u + v <= 1) return {};
    const Speeds execute_first{1, (1 - u) / v}, preload_first{(1 - v) / u, 1};
    switch (share) {
        case Share::kExecute:
            return execute_first;
        case Share::kPreload:
            return preload_first;
        case Share::kFair:
        case Share::kPhases:
            break;
    }
    if (u <= 0.5) return execute_first;
    if (v <= 0.5) return preload_first;
    return {0.5 / u, 0.5 / v};
}

struct Span {
    double begin = 0;
    double end = 0;
};

/// SRAM that exceeds the limit, from `cycle` on.
struct Excess {
    size_t position = 0;
    bool is_execute = false;  ///< otherwise the preload of the operator makes it
    double cycle = 0;
    int64_t bytes = 0;  ///< held
};

/// The run of a schedule. Times are cycles from 0.
struct Timeline {
    double total = 0;
    std::vector<Span> preloads;  ///< of each position
    std::vector<Span> executes;
    double hbm_busy = 0;
    double link_busy = 0;
    double overlapped = 0;  ///< a preload and an execute run
    double stalled = 0;     ///< of it: the full link's cost to the one that it slows more
    double execute_only = 0;
    double preload_only = 0;
    int64_t sram_peak = 0;
    std::optional<Excess> excess;  ///< the first; none: the schedule is valid
};

/// The first reason why `schedule` is not a program of the problem, SRAM aside; empty if it is one.
std::string form_fault(const ScheduleProblem& problem, const Schedule& schedule);

/// Runs a schedule by the rules of docs/chip.md. The searches share no code with it: it checks them.
/// @pre form_fault(problem, schedule) is empty
Timeline run_schedule(const ScheduleProblem& problem, const Schedule& schedule);

/// The first reason why `schedule` is not valid, SRAM included; empty if it is.
std::string schedule_fault(const ScheduleProblem& problem, const Schedule& schedule);

}  // namespace tessera::chip
