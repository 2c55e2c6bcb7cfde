#pragma once

#include "ops/define.h"

/// Operators at which the ranks of a program meet (docs/ranks.md).
namespace tessera::ops {

/// Z[r, ..] = X[..] for every r: the place where each rank's X will lie, filled with the rank's own. Behind
/// it the run time gathers: Z[r] becomes what rank r has there. The multiplication by one keeps it from being
/// a view of X.
DefinitionPtr exchange(Symbols symbols, const TensorType& type, int64_t ranks);

/// Whether the ranks meet behind this operator.
bool is_exchange(const Definition& definition);

}  // namespace tessera::ops
