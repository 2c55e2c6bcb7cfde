#pragma once

#include <vector>

#include "planner/leaf_choice.h"

namespace tessera {

/// The candidates of an operator that is a kernel of its own, those first that take least time by the
/// machine's measurements (cost/cost_model.h): the sum over the points within the specialisation's bounds, by
/// their weights, or at the largest sizes where there is none. B streams from the main memory, and all
/// workers share its rate. Where times differ by less than is measured the order of preference stays; so it
/// does altogether without measurements.
std::vector<Leaf> ranked_leaves(const Graph& graph, const Node& node,
                                const SpecialisationPlan& specialisation, const PlannerOptions& options);

}  // namespace tessera
