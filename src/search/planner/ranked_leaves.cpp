#include "search/planner/ranked_leaves.h"

#include <algorithm>
#include <limits>

#include "cost/lone_operator.h"

namespace tessera::planner {
namespace {

// The factor by which a repeated measurement may differ.
constexpr double kNoise = 1.03;

/// True if the plan gives an operand or a result of the node a layout that is not row-major.
bool has_packed_values(const Graph& graph, const Node& node, const plan::SpecialisationPlan& specialisation) {
    const auto is_packed = [&](ValueId value) {
        const auto planned = specialisation.tensors.find(graph[value].name);
        return planned != specialisation.tensors.end() && !planned->second.layout.is_row_major();
    };
    return std::any_of(node.operands.begin(), node.operands.end(), is_packed) ||
           std::any_of(node.results.begin(), node.results.end(), is_packed);
}

// A leaf that is nowhere slower only has to be faster by this factor somewhere.
constexpr double kFasterSomewhere = 1.01;

using Seconds = std::vector<double>;  // at each point

bool is_nowhere_slower(const Seconds& a, const Seconds& b, double loss) {
    return std::ranges::equal(a, b, [&](double x, double y) { return x <= loss * y; });
}

/// True if `a` is less at some point by more than `gain`, and at none more by more than `loss`.
bool is_faster(const Seconds& a, const Seconds& b, double gain, double loss) {
    return is_nowhere_slower(a, b, loss) &&
           !std::ranges::equal(a, b, [&](double x, double y) { return y <= gain * x; });
}

/// True if `a` waits less and does not compute more. That counts if the memory limits both, since at other
/// times it gives more.
bool waits_less(const cost::LonePrice& a, const cost::LonePrice& b) {
    return is_nowhere_slower(a.at_points, b.at_points, 1) && is_nowhere_slower(a.near, b.near, kNoise) &&
           is_faster(a.alone, b.alone, kNoise, 1);
}

bool dominates(const cost::LonePrice& a, const cost::LonePrice& b) {
    return is_faster(a.at_points, b.at_points, kNoise, kNoise) ||
           is_faster(a.at_points, b.at_points, kFasterSomewhere, 1) || waits_less(a, b);
}

/// Appends candidates of about the same time in all: again and again the first that no other one dominates.
void append_by_preference(std::vector<cost::PricedChoice> alike, std::vector<plan::Leaf>& out) {
    while (!alike.empty()) {
        auto next = std::find_if(alike.begin(), alike.end(), [&](const cost::PricedChoice& timed) {
            return std::none_of(alike.begin(), alike.end(), [&](const cost::PricedChoice& other) {
                return dominates(other.price, timed.price);
            });
        });
        if (next == alike.end()) next = alike.begin();
        out.push_back(std::move(next->leaf));
        alike.erase(next);
    }
}

}  // namespace

std::vector<plan::Leaf> ranked_leaves(cost::PricedBlock& block, const Graph& graph, const Node& node,
                                      const plan::SpecialisationPlan& specialisation,
                                      const PlannerOptions& options) {
    const bool is_packed = has_packed_values(graph, node, specialisation);
    // Only a price tells how many values of its order a recurrence should take together.
    const bool is_recurrence = node.definition()->is_recurrence();
    if (!options.costs->is_measured() && !is_packed && !is_recurrence)
        return leaf_candidates(node, specialisation, options);
    std::vector<cost::PricedChoice> candidates;
    for (plan::Leaf& leaf : leaf_candidates(node, specialisation, options)) {
        cost::LonePrice price = cost::lone_price(block, leaf);
        candidates.push_back({std::move(leaf), std::move(price)});
    }
    const auto unranked = std::stable_partition(
        candidates.begin(), candidates.end(),
        [&](const cost::PricedChoice& timed) { return is_recurrence || !timed.leaf.kernel->is_plain; });
    if (is_packed)
        std::stable_sort(unranked, candidates.end(),
                         [](const cost::PricedChoice& a, const cost::PricedChoice& b) {
                             return a.price.why_infinite.empty() &&
                                    (!b.price.why_infinite.empty() || a.price.seconds < b.price.seconds);
                         });
    const auto count = static_cast<size_t>(unranked - candidates.begin());
    const auto seconds = [&](size_t i) {
        return candidates[i].price.why_infinite.empty() ? candidates[i].price.seconds
                                                        : std::numeric_limits<double>::infinity();
    };
    std::vector<plan::Leaf> ranked;
    std::vector<bool> is_taken(count);
    while (ranked.size() < count) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < count; ++i)
            if (!is_taken[i]) least = std::min(least, seconds(i));
        std::vector<cost::PricedChoice> alike;
        for (size_t i = 0; i < count; ++i) {
            if (is_taken[i] || seconds(i) > kNoise * least) continue;
            is_taken[i] = true;
            alike.push_back(candidates[i]);
        }
        append_by_preference(std::move(alike), ranked);
    }
    for (auto rest = unranked; rest != candidates.end(); ++rest) ranked.push_back(std::move(rest->leaf));
    return ranked;
}

}  // namespace tessera::planner
