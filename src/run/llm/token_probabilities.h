#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tessera/engine.h"

namespace tessera::llm {

/// The logarithm of the probability of a token: its logit minus the logarithm of the sum of all exponentials.
double log_probability(std::span<const float> logits, TokenId id);
/// The most probable tokens, at most so many, the first the most probable one; ties by id. Without `bytes`.
std::vector<TokenProbability> likeliest(std::span<const float> logits, size_t count);

}  // namespace tessera::llm
