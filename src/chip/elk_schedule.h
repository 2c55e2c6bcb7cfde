#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "chip/preload_orders.h"
#include "chip/schedule_problem.h"

namespace tessera::chip {

struct ElkOptions {
    OrderOptions orders;
    std::function<bool()> must_stop = {};  ///< asked after each order; true ends with the best so far
};

struct ElkResult {
    Schedule schedule;
    double total = 0;          ///< by run_schedule
    size_t orders = 0;         ///< that were tried
    size_t edit_distance = 0;  ///< of the best one in each layer
    size_t work = 0;           ///< executes that were placed, in all
};

/// The planner of paper 003: for each order of preloads (4.4) the induction (4.2) with its allocation (4.3).
/// Orders are compared on a few copies of the layers; the best of them are confirmed on all. One order, that
/// of the sequence, is Elk-Dyn. @pre every operator has a usable row. @return none if no order has a valid
/// schedule
std::optional<ElkResult> elk_schedule(const ScheduleProblem& problem, const ElkOptions& options = {});

}  // namespace tessera::chip
