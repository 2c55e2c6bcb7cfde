#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "chip/schedule_bounds.h"
#include "chip/schedule_problem.h"
#include "support/solver_status.h"

namespace tessera::chip {

struct PlanOptions {
    /// The most executes that the searches run; some five seconds on a core of 2020. The same number gives
    /// the same schedule.
    int64_t work = 80'000'000;
    uint64_t seed = 0;
    /// If the four quick bounds leave at most this gap, the others are not computed: they take long for many
    /// positions.
    double small_gap = 0;
    /// States of the fifth bound times rows, of all positions together; fewer give a weaker bound sooner.
    size_t bound_work = 5'500'000;
    std::function<bool()> must_stop = {};  ///< asked now and then; true ends with the best schedule so far
};

struct PlanResult {
    SolverStatus status = SolverStatus::kFeasible;
    std::optional<size_t> infeasible_position;  ///< the first without a usable row; then nothing else is set
    Schedule schedule;
    double total = 0;  ///< of the schedule, by run_schedule
    double bound = 0;  ///< no valid schedule is shorter; equals `total` where optimal
    ScheduleBounds bounds;
    std::optional<double> induction_total;  ///< by the paper's parts alone: induction, allocation, orders
    int64_t work = 0;
    bool was_stopped = false;

    bool has_schedule() const { return !infeasible_position; }
    double gap() const { return total > 0 ? (total - bound) / bound : 0; }
};

/// True if they agree to 1e-9, which is optimal, as the format says.
bool is_at_bound(double total, double bound);

/// A schedule with a small total, and a proved bound: exact for a few positions, a search with the
/// evaluator's contention for many (docs/chip.md).
PlanResult plan_schedule(const ScheduleProblem& problem, const PlanOptions& options = {});

}  // namespace tessera::chip
