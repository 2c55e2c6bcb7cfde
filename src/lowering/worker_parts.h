#pragma once

#include <string>
#include <vector>

#include "lowering/ranges.h"

/// Which part of each tensor a worker touches when a loop divides a kernel between the workers.
namespace tessera::lowering {

/// The kernel's `x:group@worker`: the loop's variable holds multiples of `group` and belongs to the worker
/// with that number.
struct Division {
    std::string variable;
    int64_t group = 1;
};

/// Every access of the nodes to values that some operator of the graph writes, when they run over `ranges`:
/// those of one trip of the division, or of the whole kernel if nothing divides it.
std::vector<movement::WorkerAccess> worker_accesses(const std::vector<const Node*>& nodes,
                                                    const std::map<const Node*, Ranges>& ranges,
                                                    const Division* division, Storage& storage);

/// Keeps the parts that `others` has too: accesses that stay within one of these, all of them, meet only
/// where one worker makes them.
void keep_common(std::vector<movement::WorkerPart>& parts, const std::vector<movement::WorkerPart>& others);

/// Whether a range is part of the division's trip.
bool is_divided(const Range& range, const Division& division);

}  // namespace tessera::lowering
