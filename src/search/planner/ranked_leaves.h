#pragma once

#include <vector>

#include "search/planner/leaf_choice.h"
#include "search/planner/priced.h"

namespace tessera::planner {

/// The candidates of an operator that is a kernel of its own, by ascending time (cost/lone_operator.h).
/// Candidates whose times differ by less than the noise of measurements keep the order of preference, except
/// that one comes first if it is faster at some point and slower at none, or would be if the memory did not
/// limit both, since it waits less. The order stays altogether where the machine was not measured, and for
/// `loops` unless a tensor has lanes that preference knows nothing of.
std::vector<plan::Leaf> ranked_leaves(cost::PricedBlock& block, const Graph& graph, const Node& node,
                                      const plan::SpecialisationPlan& specialisation,
                                      const PlannerOptions& options);

}  // namespace tessera::planner
