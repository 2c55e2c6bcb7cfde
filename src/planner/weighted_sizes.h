#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tessera {

/// Sizes at which costs are evaluated.
struct WeightedSizes {
    double weight = 1;
    std::map<std::string, int64_t> symbols;
};

/// Whether the point lies within the specialisation's bounds.
bool holds(const SpecialisationPlan& specialisation, const Point& point);

/// The graph's points within the specialisation's bounds, symbols that a point does not name at their
/// largest; the largest sizes where there is none.
std::vector<WeightedSizes> sizes_within(const Graph& graph, const SpecialisationPlan& specialisation);

}  // namespace tessera
