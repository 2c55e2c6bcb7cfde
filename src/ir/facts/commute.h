#pragma once

#include "ir/facts/bound_definition.h"

namespace tessera::facts {

/// True if the post-expression may come before the fold of partial results: it is linear under sum,
/// multiplicative under prod, never decreasing under max and min, for all values of the operands that it
/// reads and all partial results for which it is a number; and it is a number for every value that the body
/// can give.
bool post_commutes(const BoundDefinition& bound);

/// True if the post-expression is a number for the identity too, the partial result of a device that folds
/// nothing.
bool post_takes_identity(const BoundDefinition& bound);

}  // namespace tessera::facts
