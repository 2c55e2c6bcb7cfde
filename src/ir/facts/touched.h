#pragma once

#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/facts/executed.h"

namespace tessera::facts {

struct Touched {
    int64_t elements = 0;
    int64_t bytes = 0;  ///< elements x bits, rounded up once
    bool operator==(const Touched&) const = default;
};

/// Distinct in-range elements of each tensor that its accesses reach in executed iterations (reads of the
/// predicate: in the whole box). An upper bound where contents are not known.
std::vector<Touched> derive_touched(const BoundDefinition& bound);

/// True if this access reaches an element of the tensor in some executed iteration.
bool reaches_anything(const BoundDefinition& bound, const ExecutedIterations& executed, int tensor,
                      const std::vector<ExprPtr>& coordinates);
/// True if these reads all reach an element in one and the same executed iteration, or if their iterators
/// have more than 2^20 combinations, which are not searched.
bool reach_together(const BoundDefinition& bound, const ExecutedIterations& executed,
                    const std::vector<Read>& reads);

/// True if this access stays within the tensor in every executed iteration. False where unknown contents
/// decide.
bool stays_in_range(const BoundDefinition& bound, const ExecutedIterations& executed, int tensor,
                    const std::vector<ExprPtr>& coordinates);

}  // namespace tessera::facts
