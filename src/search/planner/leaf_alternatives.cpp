#include "search/planner/leaf_alternatives.h"

#include "search/planner/leaf_choice.h"

namespace tessera::planner {

std::vector<plan::Leaf> leaf_alternatives(const Node& node, const plan::Leaf& leaf,
                                          const plan::SpecialisationPlan& specialisation,
                                          const PlannerOptions& options) {
    if (leaf.kernel->alternatives) return leaf.kernel->alternatives(*node.definition(), leaf, options.lanes);
    const auto without_block = [](plan::Leaf like) {
        for (const plan::Parameter& parameter : like.kernel->parameters)
            if (parameter.is_of_block) like.reset(parameter);
        return like;
    };
    std::vector<plan::Leaf> found = leaf_candidates(node, specialisation, options);
    std::erase_if(found,
                  [&](const plan::Leaf& other) { return without_block(other) != without_block(leaf); });
    return found;
}

}  // namespace tessera::planner
