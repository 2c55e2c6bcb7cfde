#pragma once

#include <string>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// A weight of each execute and of each preload, by position and row; 0 for rows that do not fit. Whatever
/// may run together makes at most one cycle of weighted progress in a cycle: together_bound.cpp has the
/// theorem.
struct ProgressWeights {
    std::vector<std::vector<double>> execute;
    std::vector<std::vector<double>> preload;
};

struct TogetherBoundOptions {
    size_t work = 150'000'000;      ///< pairs of rows times iterations
    size_t most_pairs = 3'000'000;  ///< beyond it there is no bound
};

struct TogetherBound {
    double cycles = 0;  ///< no total is below, over all rows, orders and slots; 0: there are too many pairs
    ProgressWeights weights;  ///< that prove it
};

/// The largest bound of this kind that some iterations find. @pre there is a valid schedule
TogetherBound together_bound(const ScheduleProblem& problem, const TogetherBoundOptions& options = {});

/// Cycles that no total is below if weights_fault is empty.
double cycles_of_weights(const ScheduleProblem& problem, const ProgressWeights& weights);

/// The first pair of rows that may run together with too much weighted progress; empty if there is none. It
/// looks at every pair of positions, and shares nothing with the search for weights.
std::string weights_fault(const ScheduleProblem& problem, const ProgressWeights& weights);

}  // namespace tessera::chip
