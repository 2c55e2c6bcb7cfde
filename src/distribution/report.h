#pragma once

#include <string>

#include "distribution/distribute.h"

namespace tessera::distribution {

/// One JSON object: status, cost, bound, memory, and the choice of each operator and level, the first form
/// and the boxes of each value; of an infeasible problem its status and the least memory.
std::string json_text(const Problem& problem, const Distribution& found);

/// Tables of the same for people. For an infeasible problem they show what needs the memory.
std::string report(const Problem& problem, const Distribution& found);

}  // namespace tessera::distribution
