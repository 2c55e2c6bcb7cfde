#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/environment.h"
#include "llm/language_model.h"
#include "llm/tokenizer.h"

namespace tessera::cli {

/// Runs the tokens through a sequence of their own, with progress on the terminal. `on_row` gets the logits
/// after each token, in order.
void every_logit(Session& session, std::span<const TokenId> tokens, const Environment& environment,
                 const std::function<void(std::span<const float>)>& on_row);

}  // namespace tessera::cli
