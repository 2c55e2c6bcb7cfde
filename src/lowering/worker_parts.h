#pragma once

#include <string>
#include <vector>

#include "lowering/ranges.h"

/// The part of each tensor that a worker touches when a loop divides a kernel between the workers.
namespace tessera::lowering {

/// The kernel's `x:group@worker`: the loop's variable holds multiples of `group` and belongs to the worker
/// with that number.
struct Division {
    std::string variable;
    int64_t group = 1;
};

/// Every access of the nodes to values that an operator of the graph writes, over `ranges`: those of one trip
/// of the division, or of the whole kernel if nothing divides it.
std::vector<movement::WorkerAccess> worker_accesses(const std::vector<const Node*>& nodes,
                                                    const std::map<const Node*, Ranges>& ranges,
                                                    const Division* division, Storage& storage);

/// Keeps the parts that `others` has too: if all accesses stay within one of these, they meet only in
/// elements of one worker.
void keep_common(std::vector<movement::WorkerPart>& parts, const std::vector<movement::WorkerPart>& others);

/// True if a range is part of the division's trip.
bool is_divided(const Range& range, const Division& division);

}  // namespace tessera::lowering
