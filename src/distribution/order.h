#pragma once

#include <vector>

#include "distribution/search_graph.h"

namespace tessera::distribution {

/// An order of the operators in which few values at a time are decided in part.
std::vector<int> decision_order(const SearchGraph& graph);

}  // namespace tessera::distribution
