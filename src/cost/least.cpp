#include <algorithm>
#include <limits>

#include "cost/evaluate.h"

namespace tessera::cost {

double Evaluator::flops(int op, size_t point) const {
    const Operator& facts = operators_[static_cast<size_t>(op)];
    const Definition& definition = *links_.operators[static_cast<size_t>(op)].node->definition();
    double points = 1, held = 1, elements = 1;
    for (size_t x = 0; x < definition.iterators.size(); ++x) {
        const auto extent = static_cast<double>(facts.points[point].extents[x]);
        points *= extent;
        if (!definition.iterators[x].is_reduction) elements *= extent;
        if (facts.work.held != facts::OperationCount{} && facts::holds(definition, static_cast<int>(x)))
            held *= extent;
    }
    return points * static_cast<double>(facts.work.point.flops) +
           held * static_cast<double>(facts.work.held.flops) +
           elements * static_cast<double>(facts.work.element.flops);
}

void Evaluator::for_each_seen(int op, size_t point, const std::vector<bool>& is_tile,
                              const std::function<void(int tensor, double bytes)>& visit) const {
    const Operator& facts = operators_[static_cast<size_t>(op)];
    const Definition& definition = *links_.operators[static_cast<size_t>(op)].node->definition();
    const AtPoint& here = facts.points[point];
    for (size_t t = 0; t < facts.tensors.size(); ++t) {
        const Tensor& tensor = facts.tensors[t];
        const int maker = tensor.is_result ? op : tensor.producer;
        if (definition.tensors[t].role == Role::kIndex || (maker >= 0 && is_tile[static_cast<size_t>(maker)]))
            continue;
        visit(static_cast<int>(t), std::min(tensor.bytes(here.extents) * here.padding[t], here.whole[t]));
    }
}

Evaluator::Least Evaluator::least(int op, std::span<const int> leaves, const std::vector<bool>& is_free) {
    Least least;
    const Operator& facts = operators_[static_cast<size_t>(op)];
    if (is_of_all_workers()) {
        for (size_t p = 0; p < points_.size(); ++p) {
            least.compute += points_[p].weight * flops(op, p) / rates_.operations_per_second;
            for_each_seen(op, p, is_free, [&](int t, double bytes) {
                least.storages[facts.tensors[static_cast<size_t>(t)].storage] +=
                    points_[p].weight * bytes / rates_.bytes_per_second;
            });
        }
        return least;
    }
    const lowering::BlockLinks::Operator& links = links_.operators[static_cast<size_t>(op)];
    // A predicate leaves out half of a reduction, at most (OfKernel::executed_share).
    const bool is_stopped = std::ranges::any_of(links.ends, [](const auto& end) { return end.has_value(); });
    const double share = (is_stopped ? 0.5 : 1) / static_cast<double>(workers_);
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    least = {.compute = kInfinite, .transfers = kInfinite, .storages = {}, .seconds = kInfinite};
    for (const int leaf : leaves) {
        const std::set<int>& streamed = leaves_[static_cast<size_t>(leaf)].streamed;
        double computing = 0, waiting = 0, seconds = 0;
        for (size_t p = 0; p < points_.size(); ++p) {
            const LeafCost& cost = price(leaf, number_of_extents(op, facts.points[p].extents));
            const double alone = share * seconds_of(cost);
            double near = alone, far = 0;
            for_each_seen(op, p, is_free, [&](int t, double all) {
                const Tensor& tensor = facts.tensors[static_cast<size_t>(t)];
                const double bytes = share * all;
                const size_t level =
                    tensor.is_constant ? constants_ : level_of(facts.points[p].whole[static_cast<size_t>(t)]);
                if (streamed.contains(t))
                    near += bytes * model_.stall_per_byte(cost.stall_per_byte, level, workers_);
                if (level > (streamed.empty() ? 0 : model_.near_level()))
                    far += bytes * model_.seconds_per_byte(level, workers_);
            });
            computing += points_[p].weight * alone;
            waiting += points_[p].weight * far;
            seconds += points_[p].weight * std::max(near, far);
            if (!cost.why_infinite.empty()) computing = seconds = kInfinite;
        }
        least.compute = std::min(least.compute, computing);
        least.transfers = std::min(least.transfers, waiting);
        least.seconds = std::min(least.seconds, seconds);
    }
    return least;
}

double Evaluator::least_seconds(std::span<const Least* const> operators) const {
    double compute = 0, memory = 0, seconds = 0;
    std::map<int, double> storages;
    for (const Least* least : operators) {
        compute += least->compute;
        memory += least->transfers;
        seconds += least->seconds;
        for (const auto& [storage, transfers] : least->storages)
            storages[storage] = std::max(storages[storage], transfers);
    }
    if (!published_) return seconds;
    for (const auto& [storage, transfers] : storages) memory += transfers;
    // MCFuser adds them up, and its alpha is above 1.
    return *published_ == machine::PublishedModel::kMcfuser ? memory + compute : std::max(memory, compute);
}

}  // namespace tessera::cost
