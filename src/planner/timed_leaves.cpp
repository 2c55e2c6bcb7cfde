#include "planner/timed_leaves.h"

namespace tessera::planner {

std::vector<TimedLeaf> timed_leaves(cost::PricedBlock& block, const Node& node,
                                    const plan::SpecialisationPlan& specialisation,
                                    const PlannerOptions& options) {
    const auto workers = static_cast<double>(options.workers);
    std::vector<TimedLeaf> all;
    for (plan::Leaf& leaf : leaf_candidates(node, specialisation, options)) {
        const std::vector<cost::Evaluation> found = block.evaluator.at_points({{}, {leaf}}, block.is_tile);
        TimedLeaf timed{.leaf = std::move(leaf)};
        for (size_t p = 0; p < found.size(); ++p) {
            const cost::Evaluation& at = found[p];
            if (timed.why_infinite.empty()) timed.why_infinite = at.why_infinite;
            timed.near.push_back(at.compute / workers);
            timed.alone.push_back((at.compute + at.stalls) / workers);
            timed.at_points.push_back(at.seconds / workers);
            timed.seconds += block.evaluator.points()[p].weight * timed.at_points.back();
        }
        all.push_back(std::move(timed));
    }
    return all;
}

}  // namespace tessera::planner
