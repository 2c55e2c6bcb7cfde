#include "import/models/qwen_window.h"

// Source: configuration_qwen2.py of HuggingFace transformers. `sliding_window` counts only where it is used.
// Which side of `max_window_layers` has the window has changed between versions: it decides nothing here. A
// list of `layer_types` takes their place, and is refused elsewhere if a layer has a window.

namespace tessera::import {

void refuse_qwen_window(HfSettings& settings) {
    const bool is_used = settings.boolean("use_sliding_window", false);
    settings.ignore("sliding_window");
    settings.ignore("max_window_layers");
    if (is_used && !settings.has("layer_types"))
        settings.refuse("use_sliding_window", "attention over a sliding window");
}

}  // namespace tessera::import
