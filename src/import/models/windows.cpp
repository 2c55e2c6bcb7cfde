#include "import/models/windows.h"

#include <fmt/core.h>

namespace tessera::import {
namespace {

constexpr const char* kWindowField = "sliding_window";
constexpr const char* kLayerTypes = "layer_types";
constexpr IntegerBounds kWindowTokens{1, limits::kPositions};

}  // namespace

void window_all_layers(HfSettings& settings, DecoderConfig& config, std::optional<int64_t> absent) {
    if (!settings.has(kWindowField) && (settings.is_stated(kWindowField) || !absent)) return;
    config.form.window = settings.integer(kWindowField, kWindowTokens, absent);
    for (LayerKind& layer : config.form.layers) layer.is_windowed = true;
}

bool window_by_layer_types(HfSettings& settings, DecoderConfig& config, int64_t absent) {
    const std::vector<std::string> types = settings.texts(kLayerTypes);
    if (types.empty()) return false;
    config.form.window = settings.integer(kWindowField, kWindowTokens, absent);
    if (types.size() != config.form.layers.size()) {
        settings.refuse(kLayerTypes,
                        fmt::format("expected one for each of {} layers", config.form.layers.size()));
        return true;
    }
    for (size_t i = 0; i < types.size(); ++i) {
        config.form.layers[i].is_windowed = types[i] == "sliding_attention";
        if (types[i] == "sliding_attention" || types[i] == "full_attention") continue;
        settings.refuse(kLayerTypes, "known are full_attention and sliding_attention");
        break;
    }
    return true;
}

void window_by_period(DecoderConfig& config, int64_t window, int64_t period) {
    config.form.window = window;
    for (size_t i = 0; i < config.form.layers.size(); ++i)
        config.form.layers[i].is_windowed = (static_cast<int64_t>(i) + 1) % period != 0;
}

}  // namespace tessera::import
