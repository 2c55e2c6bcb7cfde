#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "chip/allocate_memory.h"
#include "chip/schedule_problem.h"

namespace tessera::chip {

/// Chooses a point of every front within the capacity: allocate_memory, or another one.
using Allocation = std::function<std::optional<std::vector<size_t>>(std::span<const std::vector<MemoryPoint>>,
                                                                    int64_t capacity)>;

struct InductionResult {
    Schedule schedule;
    double total = 0;  ///< that the induction predicts; it knows no contention
};

/// Source: paper 003, 4.2, with its allocation of 4.3. From the last operator to the first, takes the number
/// of preloads to run before or during its execute that lets it begin latest; each number asks `allocate` for
/// the rows. Optimal for its order without contention and with one preload size for each operator (appendix
/// A). `order`: of the preloads. @return none if the order does not fit
std::optional<InductionResult> schedule_by_induction(const ScheduleProblem& problem,
                                                     const std::vector<size_t>& order,
                                                     const Allocation& allocate = allocate_memory);

}  // namespace tessera::chip
