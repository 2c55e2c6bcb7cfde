#include "import/models/architecture.h"

// SmolLM3: Llama with layers that have no position embedding, every fourth one where nothing else is said.
// Source: modeling_smollm3.py and configuration_smollm3.py of HuggingFace transformers; smollm3.cpp of
// llama.cpp.

namespace tessera::import {
namespace {

constexpr int64_t kGgufInterval = 4;  // no key states it

void leave_positions_out(DecoderConfig& config, int64_t interval) {
    for (size_t i = 0; i < config.form.layers.size(); ++i)
        if ((static_cast<int64_t>(i) + 1) % interval == 0) config.form.layers[i].rope = LayerRope::kNone;
}

void complete_smollm3_hf(HfSettings& settings, DecoderConfig& config) {
    leave_positions_out(config, settings.integer("no_rope_layer_interval", {1, limits::kLayers}));
    // 1 for a layer with a position embedding, whatever the name says.
    constexpr const char* kLayersWith = "no_rope_layers";
    const std::vector<int64_t> with = settings.integers(kLayersWith, {0, 1});
    const size_t layers = config.form.layers.size();
    if (!with.empty() && with.size() < layers)
        settings.refuse(kLayersWith, fmt::format("expected one for each of {} layers", layers));
    for (size_t i = 0; i < std::min(layers, with.size()); ++i)
        config.form.layers[i].rope = with[i] == 0 ? LayerRope::kNone : LayerRope::kGlobal;
    if (settings.boolean("attention_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kQueryBias, LayerTensor::kKeyBias,
                                       LayerTensor::kValueBias, LayerTensor::kOutputBias});
    if (settings.boolean("mlp_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kGateBias, LayerTensor::kUpBias, LayerTensor::kDownBias});
    if (settings.boolean("use_sliding_window", false))
        settings.refuse("use_sliding_window", "attention over a sliding window");
    settings.ignore("sliding_window");
    settings.ignore("max_window_layers");
}

void complete_smollm3_gguf(GgufReader&, DecoderConfig& config) {
    leave_positions_out(config, kGgufInterval);
}

}  // namespace

const Architecture& smollm3_architecture() {
    static const Architecture architecture{.name = "smollm3",
                                           .hf_class = "SmolLM3ForCausalLM",
                                           .gguf_rope_form = ops::RopeForm::kPairs,
                                           .complete_hf = complete_smollm3_hf,
                                           .complete_gguf = complete_smollm3_gguf};
    return architecture;
}

}  // namespace tessera::import
