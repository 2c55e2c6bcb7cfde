#pragma once

#include <vector>

#include "planner/leaf_choice.h"

namespace tessera::planner {

/// The candidates of an operator that is a kernel of its own, those first that take least time
/// (timed_leaves.h). Where times differ by less than is measured the order of preference stays, but that one
/// comes first which is faster at one of the points and slower at none, or would be, for it waits less, if
/// the memory did not limit both. The order stays altogether where the machine was not measured, and for
/// `loops` unless a tensor has lanes that preference knows nothing of.
std::vector<plan::Leaf> ranked_leaves(const Graph& graph, const plan::Plan& plan, const Node& node,
                                      const plan::SpecialisationPlan& specialisation,
                                      const PlannerOptions& options);

}  // namespace tessera::planner
