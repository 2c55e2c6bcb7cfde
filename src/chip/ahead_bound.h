#pragma once

#include <cstddef>

#include "chip/schedule_problem.h"

namespace tessera::chip {

struct AheadBoundOptions {
    size_t weights = 9;          ///< mixtures of HBM and link that are tried
    size_t most_states = 4'000;  ///< of one position; beyond it states are merged, which weakens the bound
};

/// Cycles that no total is below, over all rows, orders and slots: work of preloads that is done ahead of its
/// execute needs SRAM beside the executes that run in between (ahead_bound.cpp has the proof).
/// @pre there is a valid schedule
double ahead_bound(const ScheduleProblem& problem, const AheadBoundOptions& options = {});

}  // namespace tessera::chip
