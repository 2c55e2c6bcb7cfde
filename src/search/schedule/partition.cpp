#include "search/schedule/partition.h"

#include <algorithm>

#include "search/extraction/extract.h"
#include "search/schedule/frontier_partition.h"
#include "support/error.h"

namespace tessera::schedule {
namespace {

/// Beyond so many operators, as of graphs without repeated blocks, the time of an extraction grows faster
/// than their number.
constexpr size_t kMostExtracted = 128;
constexpr size_t kMostStates = 4096;

/// The operators outside of a region that run directly before it.
std::vector<int> operands_of(const OperatorOrder& order, const Region& region) {
    std::vector<int> operands;
    for (const int op : region)
        for (const int earlier : order.before(op))
            if (!contains(region, earlier)) operands.push_back(earlier);
    std::ranges::sort(operands);
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    return operands;
}

/// Operators are the first classes. A candidate of several is the node of a class of its own, which gives
/// the results of each operator by a node without cost. The node of candidate `c` is `nodes_of[c]`.
extraction::Problem problem_of(const OperatorOrder& order, const std::vector<Candidate>& candidates,
                               std::vector<int>& nodes_of) {
    extraction::Problem problem;
    problem.classes = static_cast<int>(order.size());
    std::vector<std::vector<int>> nodes_with(order.size());  // that compute the operator
    std::vector<bool> is_read(order.size());
    for (const Candidate& candidate : candidates) {
        const Region& region = candidate.operators;
        const int e_class = region.size() == 1 ? region.front() : problem.classes++;
        const auto node = static_cast<int>(problem.nodes.size());
        nodes_of.push_back(node);
        problem.nodes.push_back({e_class, operands_of(order, region), candidate.seconds});
        for (const int op : region) {
            nodes_with[static_cast<size_t>(op)].push_back(node);
            if (region.size() > 1) problem.nodes.push_back({op, {e_class}, 0});
        }
    }
    for (size_t op = 0; op < order.size(); ++op) {
        for (const int earlier : order.before(static_cast<int>(op)))
            is_read[static_cast<size_t>(earlier)] = true;
        if (nodes_with[op].size() > 1) problem.at_most_one.push_back(std::move(nodes_with[op]));
    }
    for (size_t op = 0; op < order.size(); ++op)
        if (!is_read[op]) problem.roots.push_back(static_cast<int>(op));
    return problem;
}

}  // namespace

Partition least_partition(const OperatorOrder& order, const std::vector<Candidate>& candidates,
                          int64_t conflicts) {
    if (order.size() > kMostExtracted)
        if (std::optional<Partition> found = frontier_partition(order, candidates, kMostStates))
            return *std::move(found);
    std::vector<int> nodes_of;
    const extraction::Problem problem = problem_of(order, candidates, nodes_of);
    const extraction::Result result = extraction::extract(problem, {.conflicts = conflicts});
    Partition partition{.chosen = {}, .bound = result.bound, .status = result.status};
    std::vector<Region> regions;
    std::vector<size_t> places;
    for (size_t c = 0; c < candidates.size() && !result.choice.empty(); ++c) {
        const auto e_class = static_cast<size_t>(problem.nodes[static_cast<size_t>(nodes_of[c])].e_class);
        if (result.choice[e_class] != nodes_of[c]) continue;
        places.push_back(c);
        regions.push_back(candidates[c].operators);
        partition.seconds += candidates[c].seconds;
    }
    const std::optional<std::vector<size_t>> sorted = order.sorted(regions);
    TESSERA_CHECK(sorted, "an extraction has no cycles");
    for (const size_t at : *sorted) partition.chosen.push_back(places[at]);
    return partition;
}

}  // namespace tessera::schedule
