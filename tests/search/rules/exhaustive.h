#pragma once

#include "search/extraction/problem.h"

namespace tessera::rules::testing {

/// The least cost of all choices, by trying every node of every class that is needed, and giving up where the
/// nodes taken so far and the cheapest of each class still open cost as much as the best choice. Shares no
/// code with the search. @pre there is a choice, costs are not negative
double least_cost(const extraction::Problem& problem);

}  // namespace tessera::rules::testing
