#include "run/llm/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

/// A total order, so that selecting and sorting have one result with every library.
bool more_probable(const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
}

bool less_probable(const Candidate& a, const Candidate& b) {
    return more_probable(b, a);
}

double total_weight(std::span<const Candidate> candidates) {
    return std::accumulate(candidates.begin(), candidates.end(), 0.0,
                           [](double sum, const Candidate& candidate) { return sum + candidate.weight; });
}

}  // namespace

std::vector<Candidate> weigh(std::span<const float> logits, double temperature) {
    TESSERA_CHECK(temperature > 0 && !logits.empty(), "temperature {}", temperature);
    const double largest = *std::max_element(logits.begin(), logits.end());
    std::vector<Candidate> candidates(logits.size());
    for (size_t i = 0; i < logits.size(); ++i)
        candidates[i] = {static_cast<TokenId>(i), std::exp((logits[i] - largest) / temperature)};
    return candidates;
}

void keep_top_k(std::vector<Candidate>& candidates, size_t count) {
    TESSERA_CHECK(count >= 1);
    if (count >= candidates.size()) return;
    const auto end = candidates.begin() + static_cast<ptrdiff_t>(count);
    std::partial_sort(candidates.begin(), end, candidates.end(), more_probable);
    candidates.erase(end, candidates.end());
}

void keep_top_p(std::vector<Candidate>& candidates, double mass) {
    if (mass >= 1) return;
    const double wanted = mass * total_weight(candidates);
    // Few are kept of many: a heap gives them in order without sorting the rest. They gather behind the heap,
    // the most probable one last.
    std::make_heap(candidates.begin(), candidates.end(), less_probable);
    auto heap_end = candidates.end();
    double kept = 0;
    do {
        std::pop_heap(candidates.begin(), heap_end, less_probable);
        kept += (--heap_end)->weight;
    } while (kept < wanted && heap_end != candidates.begin());
    candidates.erase(candidates.begin(), heap_end);
    std::reverse(candidates.begin(), candidates.end());
}

void keep_min_p(std::vector<Candidate>& candidates, double fraction) {
    const double largest = std::min_element(candidates.begin(), candidates.end(), more_probable)->weight;
    std::erase_if(candidates,
                  [&](const Candidate& candidate) { return candidate.weight < fraction * largest; });
}

void keep_typical(std::vector<Candidate>& candidates, double mass) {
    if (mass >= 1) return;
    const double total = total_weight(candidates);
    double entropy = 0;
    for (const Candidate& candidate : candidates) {
        const double probability = candidate.weight / total;
        if (probability > 0) entropy -= probability * std::log(probability);
    }
    const auto distance = [&](const Candidate& candidate) {
        return std::abs(-std::log(candidate.weight / total) - entropy);
    };
    std::vector<std::pair<double, Candidate>> near;
    for (const Candidate& candidate : candidates)
        if (candidate.weight > 0) near.emplace_back(distance(candidate), candidate);
    std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : more_probable(a.second, b.second);
    });
    candidates.clear();
    double kept = 0;
    for (const auto& [away, candidate] : near) {
        candidates.push_back(candidate);
        kept += candidate.weight;
        if (kept >= mass * total) break;
    }
}

TokenId draw(std::span<const Candidate> candidates, Pcg32& random) {
    const double place = random.next_fraction() * total_weight(candidates);
    const Candidate* chosen = nullptr;
    double passed = 0;
    for (const Candidate& candidate : candidates) {
        if (candidate.weight <= 0) continue;
        chosen = &candidate;
        passed += candidate.weight;
        if (place < passed) break;
    }
    TESSERA_CHECK(chosen != nullptr, "{} candidates without weight", candidates.size());
    return chosen->id;
}

}  // namespace tessera::llm
