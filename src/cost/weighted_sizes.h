#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::cost {

/// Sizes at which costs are evaluated.
struct WeightedSizes {
    double weight = 1;
    std::map<std::string, int64_t> symbols;
};

/// True if the point lies within the specialisation's bounds.
bool holds(const plan::SpecialisationPlan& specialisation, const Point& point);

/// The point of greatest weight within the specialisation's bounds, even if another specialisation runs
/// there; null if there is none.
const Point* heaviest_point(const Graph& graph, const plan::SpecialisationPlan& specialisation);

/// Index of the specialisation that runs at the point, which is the first one that holds it
/// (`LoadedProgram::specialisation_for`); nothing if none does.
std::optional<size_t> specialisation_at(const plan::Plan& plan, const Point& point);

/// The graph's points at which the specialisation of the plan runs.
std::vector<Point> points_of(const Graph& graph, const plan::Plan& plan,
                             const plan::SpecialisationPlan& specialisation);

/// Sizes at those points; symbols that a point does not name are at their largest, as all are without points.
std::vector<WeightedSizes> sizes_of(const Graph& graph, const plan::Plan& plan,
                                    const plan::SpecialisationPlan& specialisation);

/// Extents of a definition's iterators.
std::vector<int64_t> extents_at(const Definition& definition, const std::map<std::string, int64_t>& symbols);

}  // namespace tessera::cost
