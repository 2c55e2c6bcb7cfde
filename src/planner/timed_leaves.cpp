#include "planner/timed_leaves.h"

#include <algorithm>

#include "cost/weighted_sizes.h"
#include "lowering/tensor_layouts.h"
#include "planner/operator_traffic.h"

namespace tessera::planner {

size_t level_of_constants(const PlannerOptions& options) {
    size_t level = options.costs->near_level();
    while (level + 1 < options.costs->machine().memory.size() &&
           options.costs->capacity(level, options.workers) < options.constant_bytes / options.workers)
        ++level;
    return level;
}

namespace {

class Timing {
public:
    Timing(const Graph& graph, const plan::Plan& plan, const Node& node,
           const plan::SpecialisationPlan& specialisation, const PlannerOptions& options)
        : definition_(*node.definition()),
          model_(*options.costs),
          workers_(options.workers),
          constants_(level_of_constants(options)),
          layouts_(lowering::layouts_of(graph, plan, node, specialisation)) {
        const TrafficRates rates{[this](size_t level) { return model_.seconds_per_byte(level, workers_); },
                                 [this](size_t level) { return model_.capacity(level, workers_); },
                                 constants_, model_.machine().memory.size() - 1};
        for (const cost::WeightedSizes& point : cost::sizes_of(graph, plan, specialisation)) {
            At at{point.weight, cost::extents_at(definition_, point.symbols), {}};
            at.traffic = operator_traffic(graph, node, layouts_, at.extents, point.symbols, rates);
            points_.push_back(std::move(at));
        }
    }

    TimedLeaf operator()(plan::Leaf leaf) const {
        TimedLeaf timed{.leaf = std::move(leaf)};
        for (const At& at : points_) {
            const cost::LeafCost cost = model_.leaf(definition_, timed.leaf, at.extents, layouts_);
            if (!cost.why_infinite.empty())
                return {.leaf = std::move(timed.leaf), .why_infinite = cost.why_infinite};
            const double stall =
                at.traffic.streamed_bytes * model_.stall_per_byte(cost.stall_per_byte, constants_, workers_);
            const auto workers = static_cast<double>(workers_);
            const double alone = cost.near_seconds + stall;
            const double seconds = std::max(alone, at.traffic.seconds) / workers;
            timed.near.push_back(cost.near_seconds / workers);
            timed.alone.push_back(alone / workers);
            timed.at_points.push_back(seconds);
            timed.seconds += at.weight * seconds;
        }
        return timed;
    }

private:
    struct At {
        double weight;
        std::vector<int64_t> extents;
        OperatorTraffic traffic;
    };

    const Definition& definition_;
    const cost::CostModel& model_;
    const int64_t workers_;
    const size_t constants_;  ///< the level in which constants are found
    const std::vector<Layout> layouts_;
    std::vector<At> points_;
};

}  // namespace

std::vector<TimedLeaf> timed_leaves(const Graph& graph, const plan::Plan& plan, const Node& node,
                                    const plan::SpecialisationPlan& specialisation,
                                    const PlannerOptions& options) {
    const Timing timing(graph, plan, node, specialisation, options);
    std::vector<TimedLeaf> timed;
    for (plan::Leaf& leaf : leaf_candidates(node, specialisation, options))
        timed.push_back(timing(std::move(leaf)));
    return timed;
}

}  // namespace tessera::planner
