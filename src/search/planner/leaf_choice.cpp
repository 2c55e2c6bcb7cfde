#include "search/planner/leaf_choice.h"

#include "lowering/kernels/micro_kernels.h"

namespace tessera::planner {

std::vector<plan::Leaf> leaf_candidates(const Node& node, const plan::SpecialisationPlan& specialisation,
                                        const PlannerOptions& options) {
    return kernels::candidates(kernels::micro_kernels(), node, specialisation, options.target());
}

}  // namespace tessera::planner
