#pragma once

#include <cstdint>
#include <span>

#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// The perplexity of a text: the exponential of the mean negative log likelihood of its tokens, with the
/// standard error of that mean. Source: `llama-perplexity` of llama.cpp, so that figures can be compared.
class Perplexity {
public:
    /// Adds the token that followed, given the logits before it. @throws Error if no logit is finite
    void add(std::span<const float> logits, TokenId next);

    int64_t count() const { return count_; }
    double value() const;
    /// The error of value(), by the first-order expansion of the exponential; 0 for fewer than two tokens.
    double error() const;

private:
    int64_t count_ = 0;
    double sum_ = 0;
    double squares_ = 0;
};

/// Minus the logarithm of the probability of a token, in double precision. @pre `id` is of the vocabulary
double surprise(std::span<const float> logits, TokenId id);

}  // namespace tessera::llm
