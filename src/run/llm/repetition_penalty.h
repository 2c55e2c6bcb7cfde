#pragma once

#include <span>

#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// Makes tokens that have occurred less probable: the logit of each is divided by `penalty` where it is
/// positive and multiplied by it otherwise, once however often the token has occurred. Below 1 it is a
/// reward. Source: Keskar et al., "CTRL: A Conditional Transformer Language Model for Controllable
/// Generation" (2019), 4.1, with the negative logits treated as the `transformers` library and llama.cpp do.
/// `occurred`: ids of any order; those that are no logit are left out.
void penalize_repetition(std::span<float> logits, std::span<const TokenId> occurred, double penalty);

/// Takes `frequency` off the logit of a token for each time that it has occurred, and `presence` once.
/// Source: the API of OpenAI, "Frequency and presence penalties"; llama.cpp has the same over its window.
void penalize_frequency(std::span<float> logits, std::span<const TokenId> occurred, double frequency,
                        double presence);

}  // namespace tessera::llm
