#include "import/models/qwen_window.h"

#include "import/models/windows.h"

// Source: configuration_qwen2.py of HuggingFace transformers. `sliding_window` counts only where it is used.
// Which side of `max_window_layers` has the window has changed between versions, so only a list of
// `layer_types` decides; a list that no window is used for is refused elsewhere if it names a window.

namespace tessera::import {

void read_qwen_window(HfSettings& settings, DecoderConfig& config) {
    constexpr int64_t kDefaultQwenWindow = 4096;
    settings.ignore("sliding_window");
    settings.ignore("max_window_layers");
    if (!settings.boolean("use_sliding_window", false)) return;
    if (!window_by_layer_types(settings, config, kDefaultQwenWindow))
        settings.refuse("use_sliding_window", "attention over a sliding window, without layer_types");
}

}  // namespace tessera::import
