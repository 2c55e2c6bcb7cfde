#pragma once

#include <string>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::planner {

/// Refuses a specialisation in which a reduction that the workers divide is not combined once, by a later
/// kernel, or whose parts have no place, or in which parts are named that nobody leaves.
/// @pre tensors of the plan are intermediate values of the graph, or parts of values
void verify_parts(const Graph& graph, const plan::SpecialisationPlan& plan, const std::string& where);

}  // namespace tessera::planner
