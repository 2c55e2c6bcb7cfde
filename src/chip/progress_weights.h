#pragma once

#include <string>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// Cycles of excess that are ignored.
inline constexpr double kIgnoredExcess = 1e-3;

/// A weight of each execute and of each preload, by position and row; 0 for rows that do not fit. A price of
/// space during each execute, in cycles a byte. Whatever may run together makes at most one cycle of weighted
/// progress in a cycle, and what the preload pays for its space: progress_weights.cpp has the theorem.
struct ProgressWeights {
    std::vector<std::vector<double>> execute;
    std::vector<std::vector<double>> preload;
    std::vector<double> space;
};

/// Cycles that no total is below if weights_fault is empty.
double cycles_of_weights(const ScheduleProblem& problem, const ProgressWeights& weights);

/// The first pair of rows that may run together with too much weighted progress; empty if there is none. It
/// looks at every pair of positions, and shares nothing with the search for weights.
std::string weights_fault(const ScheduleProblem& problem, const ProgressWeights& weights);

/// The most bytes of another preload that is held across the operator.
int64_t room_across(const ScheduleProblem& problem, const Operator& op);
/// True if all bytes that are held during its execute fit into the SRAM at some moment shortly before its
/// end, in whatever row: only then does space have a price.
bool has_space_limit(const ScheduleProblem& problem, const Operator& op);

}  // namespace tessera::chip
