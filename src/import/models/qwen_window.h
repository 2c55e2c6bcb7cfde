#pragma once

#include "import/decoder_config.h"
#include "import/hf/settings.h"

namespace tessera::import {

/// Reads the sliding window of Qwen2 and Qwen3; refuses it where it may act in layers that nothing names.
void read_qwen_window(HfSettings& settings, DecoderConfig& config);

}  // namespace tessera::import
