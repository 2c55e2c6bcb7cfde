#pragma once

#include <optional>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

struct InductionOptions {
    /// Cycles that a cycle of traffic on the link costs an execute or a preload that runs beside (paper 003,
    /// 4.3: the third term, traffic divided by bandwidth).
    double link_price = 1;
};

struct InductionResult {
    Schedule schedule;
    double total = 0;  ///< that the induction predicts, contention included
};

/// Source: paper 003, 4.2, with its allocation of 4.3. From the last operator to the first, takes the number
/// of preloads to run before or during its execute that lets it begin latest; each number asks the
/// allocation for the rows. Optimal for its order without contention and with one preload size for each
/// operator (appendix A). `order`: of the preloads. @return none if the order does not fit
std::optional<InductionResult> schedule_by_induction(const ScheduleProblem& problem,
                                                     const std::vector<size_t>& order,
                                                     const InductionOptions& options = {});

}  // namespace tessera::chip
