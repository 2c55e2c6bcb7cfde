#pragma once

#include <optional>

#include "search/schedule/partition.h"

namespace tessera::schedule {

/// The partition that takes least time, found along the operators from the first to the last, in a time that
/// grows as their number does where candidates join neighbours. Nothing if candidates reach so far that more
/// than `most_states` sets of operators are ahead at one time, or if the kernels of the cheapest partition
/// wait for each other.
/// @pre each operator is a candidate of its own
std::optional<Partition> frontier_partition(const OperatorOrder& order,
                                            const std::vector<Candidate>& candidates, size_t most_states);

}  // namespace tessera::schedule
