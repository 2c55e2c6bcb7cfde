#include "run/llm/token_probabilities.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::llm {
namespace {

double log_of_sum(std::span<const float> logits) {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - largest);
    return largest + std::log(sum);
}

}  // namespace

double log_probability(std::span<const float> logits, TokenId id) {
    return logits[static_cast<size_t>(id)] - log_of_sum(logits);
}

std::vector<TokenProbability> likeliest(std::span<const float> logits, size_t count) {
    std::vector<TokenId> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto more_probable = [&](TokenId a, TokenId b) {
        const float of_a = logits[static_cast<size_t>(a)], of_b = logits[static_cast<size_t>(b)];
        return of_a != of_b ? of_a > of_b : a < b;
    };
    const auto end = ids.begin() + static_cast<ptrdiff_t>(std::min(count, ids.size()));
    std::partial_sort(ids.begin(), end, ids.end(), more_probable);
    const double total = log_of_sum(logits);
    std::vector<TokenProbability> result;
    for (auto id = ids.begin(); id != end; ++id)
        result.push_back({.id = *id, .log_probability = logits[static_cast<size_t>(*id)] - total});
    return result;
}

}  // namespace tessera::llm
