#pragma once

#include <cstdint>
#include <optional>

#include "import/decoder_config.h"
#include "import/hf/settings.h"

/// Attention over a sliding window, in some or all layers.
namespace tessera::import {

/// Every layer has the window that `sliding_window` states. `absent`: its size where the field is left out,
/// not where it is null.
void window_all_layers(HfSettings& settings, DecoderConfig& config, std::optional<int64_t> absent);

/// The layers that `layer_types` says have the window of `sliding_window`. Without the list nothing changes,
/// and the result is false.
bool window_by_layer_types(HfSettings& settings, DecoderConfig& config, int64_t absent);

/// All layers but each `period`-th have the window.
void window_by_period(DecoderConfig& config, int64_t window, int64_t period);

}  // namespace tessera::import
