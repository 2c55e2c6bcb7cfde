#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "search/tiles/problem.h"
#include "support/solver_status.h"

namespace tessera::tiles {

using Status = SolverStatus;

struct Options {
    /// Sets of assignments that are looked at, at most; own_budget(problem) without a number.
    std::optional<int64_t> nodes = {};
    std::optional<Assignment> incumbent = {};  ///< where the search begins; ignored unless it is feasible
    /// The cost of a feasible assignment, where the objective is a bound of it: no less, perhaps infinite.
    /// The objective, if unset.
    std::function<double(const Assignment& values)> price = {};
    double gap = 0;  ///< an assignment counts as optimal if no other one costs less by more than this share
    // Inferences. Each shrinks hard searches and keeps the optimum (docs/tiles.md).
    bool cancel_chains = true;   ///< ceil(a / b) >= a / b, so that the sizes of a chain cancel
    bool join_trips = true;      ///< ceil(a / b) ceil(b / c) >= ceil(a / c)
    bool cut_ends = true;        ///< cuts ends of domains whose bound breaks a limit
    bool count_cheapest = true;  ///< of terms whose conditions exclude each other, the cheapest counts
    bool try_small_sets = true;  ///< the few values that are left of a factor are tried
    bool neighbourhoods = true;  ///< looks for better assignments near the best one
};

/// Nodes that take about ten seconds on a core of 2020, from the size of the problem alone.
int64_t own_budget(const Problem& problem);

struct Solution {
    Status status = Status::kOutOfBudget;
    Assignment values;  ///< empty without a solution
    double cost = 0;    ///< of the values
    double bound = 0;   ///< no feasible assignment costs less; `cost` less Options::gap where optimal
    int64_t nodes = 0;  ///< work done, at most the budget

    bool has_values() const { return !values.empty(); }
    /// (cost - bound) / cost; 0 where optimal.
    double gap() const;
};

/// Finds an assignment of the least cost and proves it. Exact, anytime and deterministic: the same problem
/// and options give the same solution. Branch and bound (paper 000, 3.2.2); docs/tiles.md.
/// @pre The problem is as problem.h says, and every sum is a finite float64 for each assignment (read_problem
/// checks both).
Solution solve(const Problem& problem, const Options& options = {});

}  // namespace tessera::tiles
