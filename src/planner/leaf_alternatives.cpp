#include "planner/leaf_alternatives.h"

#include <algorithm>

#include "kernels/parameters.h"
#include "planner/leaf_choice.h"

namespace tessera {

/// Several sums go on side by side, so that none waits for its last addition. Their lanes must divide the
/// iterator: what is left over would be folded in part of a group.
std::vector<Leaf> wider_folds(const Node& node, const Leaf& leaf, const PlannerOptions& options) {
    constexpr int64_t kMostLanes = 64;
    const Definition& d = *node.definition();
    const int x = iterator_of(d, leaf, parameter::kIteratorOfLanes);
    if (x < 0 || leaf.number(parameter::kLanes) != options.lanes) return {};
    const Iterator& iterator = d.iterators[static_cast<size_t>(x)];
    const auto* extent = std::get_if<Number>(&iterator.extent->node);
    if (!iterator.is_reduction || !extent) return {};
    std::vector<Leaf> found;
    for (const int64_t several : {2 * options.lanes, 4 * options.lanes}) {
        if (several > kMostLanes || static_cast<int64_t>(extent->value) % several != 0) continue;
        found.push_back(leaf);
        found.back().set(parameter::kLanes, several);
    }
    return found;
}

std::vector<Leaf> other_blocks(const Node& node, const Leaf& leaf, const SpecialisationPlan& specialisation,
                               const PlannerOptions& options) {
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
