#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/nest.h"
#include "planner/default_planner.h"

namespace tessera {

/// The same loops with lanes of several registers, where the leaf has those of one along a reduction.
std::vector<Leaf> wider_folds(const Node& node, const Leaf& leaf, const PlannerOptions& options);

/// The same product by other blocks of registers: micro-kernel, iterators and lanes stay.
std::vector<Leaf> other_blocks(const Node& node, const Leaf& leaf, const SpecialisationPlan& specialisation,
                               const PlannerOptions& options);

}  // namespace tessera
