#pragma once

#include "ir/facts/executed.h"
#include "ir/facts/value_range.h"

namespace tessera::facts {

/// The accumulator's numbers.
ValueRange accumulator_range(const Definition& definition);

/// The range of the monoid's result over one or more values of the body, for any contents. @pre a monoid
/// other than softmax_sum
ValueRange folded_range(const BoundDefinition& bound, const ExecutedIterations& executed);

}  // namespace tessera::facts
