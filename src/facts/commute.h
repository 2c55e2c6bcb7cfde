#pragma once

#include "facts/bound_definition.h"

namespace tessera::facts {

/// Whether the post-expression may come before the fold of partial results: it is linear under sum, multiplicative under
/// prod, never decreasing under max and min, for whatever the partial results and the operands that it reads are.
bool post_commutes(const BoundDefinition& bound);

}  // namespace tessera::facts
