// Lower bounds on the prices of all kernels that have some operators of a block.
#include <algorithm>
#include <limits>

#include "cost/evaluate.h"

namespace tessera::cost {
namespace {

using lowering::BlockLinks;

/// The access reads all of a result. An expression on an axis, such as b * 32 + j, k div 32, a
/// window's x + r or an entry of a table, counts as running over all of it if it has enough points.
bool reads_all(const BlockLinks& links, const BlockLinks::Operator& reader,
               const BlockLinks::Access& access) {
    const BlockLinks::Operator& producer = links.operators[static_cast<size_t>(access.producer)];
    const BlockLinks::Result& result = producer.results[static_cast<size_t>(access.result)];
    if (access.axes.size() != result.iterators.size()) return false;
    std::set<int> seen;
    for (size_t axis = 0; axis < access.axes.size(); ++axis) {
        const int one = access.axes[axis].iterator;
        const std::vector<int> all = one >= 0 ? std::vector{one} : access.axes[axis].mixed;
        int64_t points = 1;
        for (const int x : all) points *= reader.largest[static_cast<size_t>(x)];
        if (one >= 0 && !seen.insert(one).second) return false;  // a diagonal
        const int own = result.iterators[axis];
        if (own >= 0 && points < producer.largest[static_cast<size_t>(own)]) return false;
    }
    return true;
}

/// By operator: a kernel computes all of it, since its results are stored, or a reader that is computed whole
/// reads all of them.
std::vector<bool> computed_whole(const BlockLinks& links, const std::vector<bool>& is_free) {
    std::vector<bool> are_whole(links.operators.size(), true);
    for (size_t op = are_whole.size(); op-- > 0;) {
        if (!is_free[op]) continue;
        are_whole[op] = false;
        for (size_t reader = op + 1; reader < are_whole.size() && !are_whole[op]; ++reader)
            for (const BlockLinks::Access& access : links.operators[reader].accesses)
                if (access.producer == static_cast<int>(op) && are_whole[reader] &&
                    reads_all(links, links.operators[reader], access))
                    are_whole[op] = true;
    }
    return are_whole;
}

}  // namespace

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
    return flops_of(facts.work, points, held, elements);
}

double Evaluator::flops_of(const facts::WorkRates& work, double points, double held, double elements) {
    return points * static_cast<double>(work.point.flops) + held * static_cast<double>(work.held.flops) +
           elements * static_cast<double>(work.element.flops);
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

std::vector<Evaluator::Least> Evaluator::least(const std::vector<std::vector<int>>& leaves,
                                               const std::vector<bool>& is_free) {
    const std::vector<bool> are_whole = computed_whole(links_, is_free);
    std::vector<Least> all(leaves.size());
    for (size_t op = 0; op < leaves.size(); ++op)
        if (are_whole[op]) all[op] = least_of_whole(static_cast<int>(op), leaves[op], is_free);
    return all;
}

Evaluator::Least Evaluator::least_of_whole(int op, std::span<const int> leaves,
                                           const std::vector<bool>& is_free) {
    Least least;
    const Operator& facts = operators_[static_cast<size_t>(op)];
    if (is_of_all_workers()) {
        for (size_t p = 0; p < points_.size(); ++p) {
            least.compute += points_[p].weight * flops(op, p) / published_->rates.operations_per_second;
            for_each_seen(op, p, is_free, [&](int t, double bytes) {
                least.storages[facts.tensors[static_cast<size_t>(t)].storage] +=
                    points_[p].weight * bytes / published_->rates.bytes_per_second;
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
            const double alone = share * (cost.least_seconds + seconds_of_calls(cost));
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

double Evaluator::least_of_call(int op, size_t point, const std::vector<int64_t>& extents,
                                std::span<const int> leaves) {
    double least = std::numeric_limits<double>::infinity();
    const int number = number_of_extents(op, extents);
    for (const int leaf : leaves) {
        const LeafCost& cost = price(leaf, number);
        if (cost.why_infinite.empty()) least = std::min(least, points_[point].weight * seconds_of(cost));
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
    return published_->model == machine::PublishedModel::kMcfuser ? memory + compute
                                                                  : std::max(memory, compute);
}

}  // namespace tessera::cost
