#pragma once

#include <cstdint>

#include "import/decoder_config.h"
#include "import/gguf/gguf_settings.h"
#include "import/hf/settings.h"

/// Attention over a sliding window, in some or all layers. A window of 0 tokens is none: in a folder layers
/// keep the frequencies of their type.
namespace tessera::import {

/// The tokens of `sliding_window`; 0: null, or left out without a default.
int64_t read_window(HfSettings& settings);

/// Every layer has the window that `sliding_window` states.
void window_all_layers(HfSettings& settings, DecoderConfig& config);

/// The layers that `layer_types` says have the window of `sliding_window`. Without the list nothing changes,
/// and the result is false.
bool window_by_layer_types(HfSettings& settings, DecoderConfig& config);

/// All layers but each `period`-th have the window.
void window_by_period(DecoderConfig& config, int64_t window, int64_t period);

/// The window of a GGUF file. Its pattern is a period, or, as ollama writes it, a list of the layers.
void read_gguf_windows(GgufReader& reader, DecoderConfig& config);

}  // namespace tessera::import
