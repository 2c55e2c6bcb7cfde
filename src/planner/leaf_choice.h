#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/nest.h"
#include "planner/default_planner.h"

namespace tessera {

/// Of an iterator, for any values of the symbols.
int64_t largest_extent(const Definition& definition, int x, const SpecialisationPlan& specialisation);

/// Micro-kernels with parameters that may implement an operator at the specialisation's extents, preferred
/// ones first; the last one always does where the operator stands alone.
std::vector<Leaf> leaf_candidates(const Node& node, const SpecialisationPlan& specialisation,
                                  const PlannerOptions& options);

}  // namespace tessera
