#pragma once

#include <cstdint>
#include <vector>

#include "search/schedule/operator_order.h"
#include "support/solver_status.h"

namespace tessera::schedule {

/// A kernel that may be chosen.
struct Candidate {
    Region operators;
    double seconds = 0;
};

/// Candidates that compute each operator once and have an order of execution.
struct Partition {
    std::vector<size_t> chosen;  ///< places of candidates, in the order of execution
    double seconds = 0;          ///< the sum of theirs
    double bound = 0;            ///< no partition takes less; equal to it if the status is kOptimal
    SolverStatus status = SolverStatus::kOutOfBudget;
};

/// The partition of a block that takes least time: one extraction (search/extraction/extract.h). A candidate
/// is a node, its results are classes, and what it reads are its children. That of a large block is found
/// along its operators, if it can be (frontier_partition.h).
/// @param conflicts the budget of the extraction
/// @pre each operator is a candidate of its own
Partition least_partition(const OperatorOrder& order, const std::vector<Candidate>& candidates,
                          int64_t conflicts);

}  // namespace tessera::schedule
