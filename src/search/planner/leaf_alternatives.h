#pragma once

#include <vector>

#include "ir/graph.h"
#include "lowering/plan/nest.h"
#include "search/planner/default_planner.h"

namespace tessera::planner {

/// The same operator by the same micro-kernel with other registers: loops that fold lanes of several,
/// products by other register blocks. Iterators stay.
std::vector<plan::Leaf> leaf_alternatives(const Node& node, const plan::Leaf& leaf,
                                          const plan::SpecialisationPlan& specialisation,
                                          const PlannerOptions& options);

}  // namespace tessera::planner
