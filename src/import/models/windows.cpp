#include "import/models/windows.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::import {
namespace {

constexpr const char* kWindowField = "sliding_window";
constexpr const char* kLayerTypes = "layer_types";
constexpr const char* kWindowKey = "attention.sliding_window";
constexpr const char* kPatternKey = "attention.sliding_window_pattern";

}  // namespace

int64_t read_window(HfSettings& settings) {
    return settings.has(kWindowField) ? settings.integer(kWindowField, {0, limits::kPositions}) : 0;
}

void window_all_layers(HfSettings& settings, DecoderConfig& config) {
    config.form.window = read_window(settings);
    for (LayerKind& layer : config.form.layers) layer.is_windowed = config.form.window > 0;
}

bool window_by_layer_types(HfSettings& settings, DecoderConfig& config) {
    const std::vector<std::string> types = settings.texts(kLayerTypes);
    if (types.empty()) return false;
    config.form.window = read_window(settings);
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

void read_gguf_windows(GgufReader& reader, DecoderConfig& config) {
    const int64_t window = reader.integer_or_zero(kWindowKey, limits::kPositions);
    const std::string key = reader.key(kPatternKey);
    if (window == 0) return reader.ignore(kPatternKey);
    if (!reader.settings.is_list(key))
        return window_by_period(config, window, reader.integer(kPatternKey, limits::kLayers));
    const std::vector<int64_t> windowed = reader.settings.integers(key);
    if (windowed.size() != config.form.layers.size())
        throw Error(reader.settings.path(), key,
                    fmt::format("has {} elements, expected one for each of {} layers", windowed.size(),
                                config.form.layers.size()));
    config.form.window = window;
    for (size_t i = 0; i < windowed.size(); ++i) config.form.layers[i].is_windowed = windowed[i] != 0;
}

}  // namespace tessera::import
