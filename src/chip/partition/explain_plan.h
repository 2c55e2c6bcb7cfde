#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::partition {

/// A schedule in which one operator does something else in all its positions. All else stays, but preloads
/// are issued again as early as the SRAM allows.
struct Alternative {
    size_t row = 0;
    std::optional<size_t>
        lead;  ///< so many executes ahead, at most, its preload is issued; none: as far as it is
    std::optional<double> total;  ///< none: it does not fit
};

/// Every other row of the operator, the best total first, those that do not fit last.
std::vector<Alternative> other_rows(const chip::ScheduleProblem& problem, const chip::Schedule& schedule,
                                    size_t op);

/// The chosen row with its preload issued at most so far ahead of its execute: 0, 1, 2, 4, .. below what it
/// is now.
std::vector<Alternative> shorter_leads(const chip::ScheduleProblem& problem, const chip::Schedule& schedule,
                                       size_t position);

}  // namespace tessera::partition
