#include "run/llm/perplexity.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace tessera::llm {

double surprise(std::span<const float> logits, TokenId id) {
    TESSERA_CHECK(id >= 0 && static_cast<size_t>(id) < logits.size(), "token {}", id);
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - largest);
    return largest + std::log(sum) - logits[static_cast<size_t>(id)];
}

void Perplexity::add(std::span<const float> logits, TokenId next) {
    const double bits = surprise(logits, next);
    if (std::isnan(bits))
        throw Error("", "", "the logits are no numbers",
                    "the weights may be damaged: compile the model again");
    ++count_;
    sum_ += bits;
    squares_ += bits * bits;
}

double Perplexity::value() const {
    return count_ == 0 ? 0 : std::exp(sum_ / static_cast<double>(count_));
}

double Perplexity::error() const {
    if (count_ < 2) return 0;
    const auto count = static_cast<double>(count_);
    const double mean = sum_ / count;
    const double variance = std::max(0.0, squares_ / count - mean * mean);
    return std::sqrt(variance / (count - 1)) * value();
}

}  // namespace tessera::llm
