#pragma once

#include <vector>

#include "ir/graph.h"
#include "lowering/kernels/candidates.h"
#include "lowering/plan/nest.h"
#include "search/planner/default_planner.h"

namespace tessera::planner {

/// Micro-kernels with parameters that may implement an operator at the specialisation's extents, preferred
/// ones first (lowering/kernels/candidates.h); the last one always does where the operator stands alone.
std::vector<plan::Leaf> leaf_candidates(const Node& node, const plan::SpecialisationPlan& specialisation,
                                        const PlannerOptions& options);

}  // namespace tessera::planner
