#pragma once

#include <cstdint>
#include <span>

#include "run/llm/pcg32.h"
#include "tessera/generation.h"

namespace tessera::llm {

/// @throws Error naming the option that is outside its range
void check(const SamplingOptions& options);

/// Chooses the token that follows `history`, prompt and text so far, given the logits [vocabulary] after it.
/// In the order of the `transformers` library: repetition penalty, temperature, top-k, top-p, min-p,
/// typical-p; then one draw. (llama.cpp has the temperature last.) Penalties have the window of llama.cpp,
/// and those of frequency and presence follow that of repetition; biases follow them. The same logits,
/// history, options and state of `random` give the same token on every machine; greedy choice leaves `random`
/// alone, ties go to the lowest id.
/// @throws Error if a logit is not a number, or none is finite
TokenId sample(std::span<const float> logits, std::span<const TokenId> history,
               const SamplingOptions& options, Pcg32& random);

}  // namespace tessera::llm
