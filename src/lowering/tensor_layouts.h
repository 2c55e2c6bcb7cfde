#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tessera {

/// How the tensors of a node lie, as Definition::tensors.
std::vector<Layout> layouts_of(const Graph& graph, const Plan& plan, const Node& node,
                               const SpecialisationPlan& specialisation);

}  // namespace tessera
