#include "run/llm/repetition_penalty.h"

#include <algorithm>
#include <vector>

namespace tessera::llm {

void penalize_repetition(std::span<float> logits, std::span<const TokenId> occurred, double penalty) {
    std::vector<TokenId> distinct(occurred.begin(), occurred.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const TokenId id : distinct) {
        if (id < 0 || static_cast<size_t>(id) >= logits.size()) continue;
        float& logit = logits[static_cast<size_t>(id)];
        logit = static_cast<float>(logit > 0 ? logit / penalty : logit * penalty);
    }
}

void penalize_frequency(std::span<float> logits, std::span<const TokenId> occurred, double frequency,
                        double presence) {
    std::vector<TokenId> sorted(occurred.begin(), occurred.end());
    std::sort(sorted.begin(), sorted.end());
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto last = std::upper_bound(first, sorted.end(), *first);
        if (*first >= 0 && static_cast<size_t>(*first) < logits.size()) {
            float& logit = logits[static_cast<size_t>(*first)];
            logit = static_cast<float>(logit - static_cast<double>(last - first) * frequency - presence);
        }
        first = last;
    }
}

}  // namespace tessera::llm
