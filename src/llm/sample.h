#pragma once

#include <cstdint>
#include <span>

#include "llm/pcg32.h"
#include "llm/tokenizer.h"

namespace tessera {

/// How the next token is chosen. The defaults choose the most probable one.
struct SamplingOptions {
    double temperature = 0;         ///< 0: the most probable token; all below but the penalty are then unused
    int64_t top_k = 0;              ///< only so many of the most probable tokens; 0: all
    double top_p = 1;               ///< only the most probable that together have this probability; 1: all
    double min_p = 0;               ///< only those with this fraction of the largest probability; 0: all
    double repetition_penalty = 1;  ///< of tokens that have occurred; 1: none
    int64_t repetition_window = 64;  ///< they have occurred if they are among so many last ones; 0: none has
    uint64_t seed = 0;               ///< of the draws
};

/// @throws Error naming the option that is outside its range
void check(const SamplingOptions& options);

/// Chooses the token that follows `history`, prompt and text so far, given the logits [vocabulary] after it.
/// In the order of the `transformers` library: repetition penalty, temperature, top-k, top-p, min-p; then one
/// draw. (llama.cpp has the temperature last.) The penalty has the window of llama.cpp.
/// The same logits, history, options and state of `random` give the same token on every machine; greedy
/// choice leaves `random` alone, ties go to the lowest id.
/// @throws Error if a logit is not a number, or none is finite
TokenId sample(std::span<const float> logits, std::span<const TokenId> history,
               const SamplingOptions& options, Pcg32& random);

}  // namespace tessera
