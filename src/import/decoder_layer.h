#pragma once

#include "import/decoder_step.h"

namespace tessera::import {

/// Appends one layer of a group, `offset` layers behind its first one, to a block. Returns its result.
ValueId build_layer(DecoderStep& step, Block& block, const LayerGroup& group, int64_t offset, ValueId x);

}  // namespace tessera::import
