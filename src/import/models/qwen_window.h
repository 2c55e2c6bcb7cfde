#pragma once

#include "import/decoder_config.h"
#include "import/hf/settings.h"

namespace tessera::import {

/// True if the settings of the window count.
bool uses_qwen_window(HfSettings& settings);

/// Reads the sliding window of Qwen2 and Qwen3.
void read_qwen_window(HfSettings& settings, DecoderConfig& config);

}  // namespace tessera::import
