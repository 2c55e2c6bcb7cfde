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

/// The graph's points at which the specialisation runs: those within its bounds and within the bounds of none
/// that stands before it in the plan, since the first one runs (`LoadedProgram::specialisation_for`).
std::vector<Point> points_of(const Graph& graph, const Plan& plan, const SpecialisationPlan& specialisation);

/// Those points, symbols that a point does not name at their largest; the largest sizes where there is none.
std::vector<WeightedSizes> sizes_of(const Graph& graph, const Plan& plan,
                                    const SpecialisationPlan& specialisation);

}  // namespace tessera
