#pragma once

#include <cstdint>
#include <vector>

#include "cost/vector_work.h"

namespace tessera::cost {

/// The work of a recurrence with these extents of its iterators, by groups of `lanes` lanes along iterator x
/// (-1: scalars) that take so many `registers`: of `loops`, and of `chunk` where `steps` values of the
/// ordered iterator are taken together. What is one for all lanes is done beside.
VectorWork recurrence_work(const Definition& recurrence, const std::vector<int64_t>& extents, int x,
                           int64_t lanes, int64_t registers, int64_t steps);

}  // namespace tessera::cost
