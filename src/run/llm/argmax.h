#pragma once

#include <span>

#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// The most probable token; the lowest id where several are.
/// @throws Error if a logit is not a number: the model's weights or its code are broken.
TokenId argmax(std::span<const float> logits);

}  // namespace tessera::llm
