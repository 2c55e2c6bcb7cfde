// A shortest path over sets of operators. At each operator that no candidate has covered yet, one begins
// whose first operator it is; a state is the set of operators further on that candidates have covered:
//
//     operators   0  1  2  3  4         candidates {0, 2}, {1}, {3, 4}, ...
//     at 1, after {0, 2}: {2}           at 3: {}, whatever has been chosen for 0, 1 and 2
//
// The path behind a state is forgotten, so layers that follow each other cost one after the other, where one
// problem of all of them costs more than their sum. Order is asked of the whole path at its end: candidates
// are convex, so kernels that wait for each other are rare.
#include "search/schedule/frontier_partition.h"

#include <algorithm>
#include <unordered_map>

#include "support/hash_vector.h"

namespace tessera::schedule {
namespace {

using Ahead = std::vector<int64_t>;  ///< operators that are covered, ascending

/// The cheapest way to a state.
struct Way {
    double seconds = 0;
    int last = -1;  ///< in the list of choices; -1: none
};

struct Choice {
    int before;
    size_t candidate;
};

using States = std::unordered_map<Ahead, Way, HashVector>;

/// Keeps the cheaper way, and of equal ones that of the first choices.
void offer(States& states, Ahead ahead, const Way& way) {
    const auto [known, is_new] = states.emplace(std::move(ahead), way);
    if (is_new) return;
    Way& best = known->second;
    if (way.seconds < best.seconds || (way.seconds == best.seconds && way.last < best.last)) best = way;
}

}  // namespace

std::optional<Partition> frontier_partition(const OperatorOrder& order,
                                            const std::vector<Candidate>& candidates, size_t most_states) {
    std::vector<std::vector<size_t>> beginning(order.size());
    for (size_t c = 0; c < candidates.size(); ++c)
        beginning[static_cast<size_t>(candidates[c].operators.front())].push_back(c);
    std::vector<Choice> choices;
    States states = {{{}, {}}};
    for (size_t op = 0; op < order.size(); ++op) {
        // In the order of their operators: that of a table of hashes differs between libraries.
        std::vector<std::pair<Ahead, Way>> sorted(states.begin(), states.end());
        std::ranges::sort(sorted, {}, &std::pair<Ahead, Way>::first);
        states.clear();
        for (const auto& [ahead, way] : sorted) {
            if (!ahead.empty() && ahead.front() == static_cast<int64_t>(op)) {
                offer(states, {ahead.begin() + 1, ahead.end()}, way);
                continue;
            }
            for (const size_t c : beginning[op]) {
                const Region& region = candidates[c].operators;
                Ahead next;
                std::ranges::set_union(ahead, Ahead(region.begin() + 1, region.end()),
                                       std::back_inserter(next));
                if (next.size() != ahead.size() + region.size() - 1) continue;  // they share an operator
                choices.push_back({way.last, c});
                offer(states, std::move(next),
                      {way.seconds + candidates[c].seconds, static_cast<int>(choices.size()) - 1});
            }
        }
        if (states.size() > most_states) return std::nullopt;
    }
    const Way& best = states.at({});
    std::vector<size_t> places;
    std::vector<Region> regions;
    for (int at = best.last; at >= 0; at = choices[static_cast<size_t>(at)].before)
        places.push_back(choices[static_cast<size_t>(at)].candidate);
    std::ranges::reverse(places);
    for (const size_t c : places) regions.push_back(candidates[c].operators);
    const std::optional<std::vector<size_t>> running = order.sorted(regions);
    if (!running) return std::nullopt;
    Partition partition{
        .chosen = {}, .seconds = best.seconds, .bound = best.seconds, .status = SolverStatus::kOptimal};
    for (const size_t at : *running) partition.chosen.push_back(places[at]);
    return partition;
}

}  // namespace tessera::schedule
