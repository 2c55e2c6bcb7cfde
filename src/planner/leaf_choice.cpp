#include "planner/leaf_choice.h"

#include "kernels/micro_kernels.h"

namespace tessera {

std::vector<Leaf> leaf_candidates(const Node& node, const SpecialisationPlan& specialisation,
                                  const PlannerOptions& options) {
    return candidates(micro_kernels(), node, specialisation, options.target());
}

}  // namespace tessera
