#pragma once

#include "import/decoder_config.h"

namespace tessera::import {

/// The form of GPT-2 and OPT: LayerNorm with biases, biases of all matrices, learned positions in place of
/// rotation, and a feed-forward without a gate. `first`: the row of position 0.
void set_learned_positions(DecoderConfig& config, int64_t first);

}  // namespace tessera::import
