#include "planner/leaf_alternatives.h"

#include "planner/leaf_choice.h"

namespace tessera {

std::vector<Leaf> leaf_alternatives(const Node& node, const Leaf& leaf,
                                    const SpecialisationPlan& specialisation, const PlannerOptions& options) {
    if (leaf.kernel->alternatives) return leaf.kernel->alternatives(*node.definition(), leaf, options.lanes);
    const auto without_block = [](Leaf like) {
        for (const Parameter& parameter : like.kernel->parameters)
            if (parameter.is_of_block) like.reset(parameter);
        return like;
    };
    std::vector<Leaf> found = leaf_candidates(node, specialisation, options);
    std::erase_if(found, [&](const Leaf& other) { return without_block(other) != without_block(leaf); });
    return found;
}

}  // namespace tessera
