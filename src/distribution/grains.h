#pragma once

#include "distribution/problem.h"

/// The grains of which parts of an iterator may be, so that what one operator makes is what the next one
/// reads: heads of 64 elements are cut between heads only (docs/distribution.md, "Ragged parts").
namespace tessera::distribution {

/// Sets the grains of all operators of a problem with ragged cuts; those that cut evenly, as grain 1 does,
/// are left out. At most kMostGrains for one iterator, the smallest ones.
void derive_grains(Problem& problem);

inline constexpr size_t kMostGrains = 8;

}  // namespace tessera::distribution
