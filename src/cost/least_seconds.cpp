#include <algorithm>
#include <limits>

#include "cost/evaluate.h"

namespace tessera::cost {

double Evaluator::least_seconds(int op, std::span<const int> leaves, const std::vector<bool>& is_free) {
    const Operator& facts = operators_[static_cast<size_t>(op)];
    const lowering::BlockLinks::Operator& links = links_.operators[static_cast<size_t>(op)];
    const Definition& definition = *links.node->definition();
    // A predicate leaves out half of a reduction, at most (OfKernel::executed_share).
    const bool is_stopped = std::ranges::any_of(links.ends, [](const auto& end) { return end.has_value(); });
    const double share = (is_stopped ? 0.5 : 1) / static_cast<double>(workers_);
    double least = std::numeric_limits<double>::infinity();
    for (const int leaf : leaves) {
        const std::set<int>& streamed = leaves_[static_cast<size_t>(leaf)].streamed;
        double mean = 0;
        for (size_t p = 0; p < points_.size(); ++p) {
            const LeafCost& cost = price(leaf, number_of_extents(op, facts.points[p].extents));
            double near = share * seconds_of(cost), waiting = 0;
            for (size_t t = 0; t < facts.tensors.size(); ++t) {
                const Tensor& tensor = facts.tensors[t];
                const int maker = tensor.is_result ? op : tensor.producer;
                if (definition.tensors[t].role == Role::kIndex ||
                    (maker >= 0 && is_free[static_cast<size_t>(maker)]))
                    continue;
                const AtPoint& here = facts.points[p];
                const double bytes =
                    share * std::min(tensor.bytes(here.extents) * here.padding[t], here.whole[t]);
                const size_t level = tensor.is_constant ? constants_ : level_of(here.whole[t]);
                if (streamed.contains(static_cast<int>(t)))
                    near += bytes * model_.stall_per_byte(cost.stall_per_byte, level, workers_);
                if (level > (streamed.empty() ? 0 : model_.near_level()))
                    waiting += bytes * model_.seconds_per_byte(level, workers_);
            }
            mean += points_[p].weight * std::max(near, waiting);
            if (!cost.why_infinite.empty()) mean = std::numeric_limits<double>::infinity();
        }
        least = std::min(least, mean);
    }
    return least;
}

}  // namespace tessera::cost
