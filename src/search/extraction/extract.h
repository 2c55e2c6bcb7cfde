#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "search/extraction/problem.h"
#include "support/solver_status.h"

namespace tessera::extraction {

using Status = SolverStatus;

struct Progress {
    int64_t conflicts;           ///< spent
    std::optional<double> cost;  ///< of the best choice
    std::optional<double> bound;
};

struct Options {
    int64_t conflicts = 400'000;  ///< of the SAT solver: the same number gives the same result; 0: seeds only
    std::optional<double> seconds;  ///< emergency stop; a result that it cut short says so
    bool simplify = true;           ///< preprocessing
    bool neighbourhoods = true;     ///< large-neighbourhood search between slices of the exact one
    uint64_t seed = 0;              ///< of the neighbourhoods
    /// Called now and then; return true to stop as the deadline does.
    std::function<bool(const Progress&)> on_progress = {};
};

struct Result {
    Status status = Status::kOutOfBudget;
    Choice choice;          ///< computed classes only; empty without a solution
    double cost = 0;        ///< of the choice
    double bound = 0;       ///< no choice costs less; equals `cost` where optimal
    double rounding = 0;    ///< cost and bound are this exact (see scale()); 0: exactly
    int64_t conflicts = 0;  ///< work done
    bool was_stopped =
        false;  ///< by the deadline or by on_progress: the result need not be the same next time

    /// (cost - bound) / |cost|; 0 where optimal.
    double gap() const;
};

/// Chooses nodes of the least total cost. Exact, anytime, and deterministic: the same problem and conflicts
/// give the same choice, unless `was_stopped`. Weighted partial MaxSAT (paper 000, 3.1.1), core-guided, with
/// cycles cut off when they occur; docs/extraction.md.
Result extract(const Problem& problem, const Options& options = {});

}  // namespace tessera::extraction
