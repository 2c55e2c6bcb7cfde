#include "import/models/qwen_window.h"

#include <utility>

#include "import/models/windows.h"

// Source: configuration_qwen2.py of HuggingFace transformers 4.57 and 5.24. `sliding_window` counts only
// where it is used; then in the layers that `layer_types` names, or from `max_window_layers` on.

namespace tessera::import {

bool uses_qwen_window(HfSettings& settings) {
    settings.ignore("sliding_window");
    settings.ignore("max_window_layers");
    return settings.boolean("use_sliding_window", false);
}

void read_qwen_window(HfSettings& settings, DecoderConfig& config) {
    if (!uses_qwen_window(settings) || window_by_layer_types(settings, config)) return;
    const int64_t first = settings.integer("max_window_layers", {0, limits::kLayers});
    window_all_layers(settings, config);
    for (size_t i = 0; i < config.form.layers.size() && std::cmp_less(i, first); ++i)
        config.form.layers[i].is_windowed = false;
}

}  // namespace tessera::import
