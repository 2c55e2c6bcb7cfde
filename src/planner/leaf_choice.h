#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/nest.h"
#include "planner/default_planner.h"

namespace tessera {

/// Micro-kernels with parameters that may implement an operator at the specialisation's extents, preferred
/// ones first; the last one always does where the operator stands alone.
std::vector<Leaf> leaf_candidates(const Node& node, const SpecialisationPlan& specialisation,
                                  const PlannerOptions& options);

/// Iterators of a sum of products by the factors that they index.
struct ContractionRoles {
    std::vector<int> m, n, k;  ///< A and C; B and C; A and B
    int a, b;                  ///< operands, as positions in the definition
};
/// Both ways to call the factors A and B; empty if the operator is no sum of products.
std::vector<ContractionRoles> contraction_roles(const Definition& definition);

}  // namespace tessera
