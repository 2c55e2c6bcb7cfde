#pragma once

#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::lowering {

/// How the tensors of a node lie, as Definition::tensors.
std::vector<Layout> layouts_of(const Graph& graph, const plan::Plan& plan, const Node& node,
                               const plan::SpecialisationPlan& specialisation);

}  // namespace tessera::lowering
