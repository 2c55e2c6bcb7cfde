#pragma once

#include <functional>
#include <span>

#include "cli/environment.h"
#include "tessera/model.h"

namespace tessera::cli {

/// The logits after each token, in order, with progress on the terminal.
void every_logit(Model& model, std::span<const TokenId> tokens, const Environment& environment,
                 const std::function<void(std::span<const float>)>& on_row);

}  // namespace tessera::cli
