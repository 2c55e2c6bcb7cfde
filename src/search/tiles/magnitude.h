#pragma once

#include <cstddef>
#include <cstdint>

#include "search/tiles/problem.h"

namespace tessera::tiles {

/// True if a sum of this many terms like this one is a finite float64 for each assignment, and the term,
/// where it is not 0, a normal one, in whatever order it is computed.
bool is_in_range(const Problem& problem, const Term& term, size_t terms);

/// The count of numbers in the search's tables of powers and trips, without those of relaxations.
int64_t table_entries(const Problem& problem);

}  // namespace tessera::tiles
