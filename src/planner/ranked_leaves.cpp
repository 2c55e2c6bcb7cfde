#include "planner/ranked_leaves.h"

#include <algorithm>
#include <limits>

#include "planner/weighted_sizes.h"

namespace tessera {
namespace {

// Times are kept with two digits, of which the last one is noise.
constexpr double kNoise = 1.03;

double seconds_of(const Definition& definition, const Leaf& leaf, const std::vector<WeightedSizes>& sizes,
                  const PlannerOptions& options) {
    const CostModel& model = *options.costs;
    const auto workers = static_cast<double>(options.workers);
    const size_t memory = model.machine().memory.size() - 1;
    double seconds = 0;
    for (const WeightedSizes& point : sizes) {
        std::vector<int64_t> extents;
        const std::vector<int64_t> dims = dims_of(definition, point.symbols);
        for (const Iterator& iterator : definition.iterators)
            extents.push_back(evaluate_constant(iterator.extent, dims));
        const LeafCost cost = model.leaf(definition, leaf, extents);
        if (!cost.why_infinite.empty()) return std::numeric_limits<double>::infinity();
        const double stall = model.stall_per_byte(cost.stall_per_byte, memory, options.workers);
        const double waiting = cost.streamed_bytes * model.seconds_per_byte(memory, options.workers);
        seconds +=
            point.weight / workers * std::max(cost.near_seconds + cost.streamed_bytes * stall, waiting);
    }
    return seconds;
}

}  // namespace

std::vector<Leaf> ranked_leaves(const Graph& graph, const Node& node,
                                const SpecialisationPlan& specialisation, const PlannerOptions& options) {
    std::vector<Leaf> candidates = leaf_candidates(node, specialisation, options);
    if (!options.costs) return candidates;
    const std::vector<WeightedSizes> sizes = sizes_within(graph, specialisation);
    const auto loops = std::stable_partition(candidates.begin(), candidates.end(),
                                             [](const Leaf& leaf) { return leaf.micro_kernel != "loops"; });
    const auto products = static_cast<size_t>(loops - candidates.begin());
    std::vector<double> seconds;
    for (size_t i = 0; i < products; ++i)
        seconds.push_back(seconds_of(*node.definition(), candidates[i], sizes, options));
    std::vector<Leaf> ranked;
    std::vector<bool> is_taken(products);
    while (ranked.size() < products) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < products; ++i)
            if (!is_taken[i]) least = std::min(least, seconds[i]);
        for (size_t i = 0; i < products; ++i) {
            if (is_taken[i] || seconds[i] > kNoise * least) continue;
            is_taken[i] = true;
            ranked.push_back(std::move(candidates[i]));
        }
    }
    ranked.insert(ranked.end(), loops, candidates.end());
    return ranked;
}

}  // namespace tessera
