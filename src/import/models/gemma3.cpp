#include "import/models/gemma.h"
#include "import/models/windows.h"

// Gemma 3, its language model: five layers with a sliding window and rotary frequencies of their own before
// each one without; the heads of Q and K are normalised. Source: modeling_gemma3.py and
// configuration_gemma3.py of HuggingFace transformers; gemma3.cpp of llama.cpp.

namespace tessera::import {
namespace {

constexpr int64_t kGemma3Window = 4096, kGemma3Period = 6, kGemma3LayersOf27B = 62;
constexpr double kGlobalBase = 1e6, kLocalBase = 1e4;

void rotate_windowed_layers(DecoderConfig& config) {
    config.set(Presence::kAlways, {LayerTensor::kQueryNorm, LayerTensor::kKeyNorm});
    for (LayerKind& layer : config.form.layers)
        if (layer.is_windowed) layer.rope = LayerRope::kLocal;
}

void complete_gemma3_hf(HfSettings& settings, DecoderConfig& config) {
    complete_gemma_hf(settings, config, 0, 0);
    const int64_t old_period =
        settings.integer("_sliding_window_pattern", {1, limits::kLayers}, kGemma3Period);
    const int64_t period = settings.integer("sliding_window_pattern", {1, limits::kLayers}, old_period);
    if (!window_by_layer_types(settings, config, kGemma3Window))
        window_by_period(config, settings.integer("sliding_window", {1, limits::kPositions}, kGemma3Window),
                         period);
    config.local_rope =
        read_local_rope(settings, {.base = kLocalBase, .max_positions = config.max_positions});
    rotate_windowed_layers(config);
}

void complete_gemma3_gguf(GgufReader& reader, DecoderConfig& config) {
    complete_gemma_gguf(reader, config, kGemma3LayersOf27B);
    config.local_rope.base = reader.real("rope.freq_base_swa", 1e-3, 1e15, kLocalBase);
    constexpr const char* kWindowKey = "attention.sliding_window";
    if (reader.settings.has(reader.key(kWindowKey)))
        window_by_period(config, reader.integer(kWindowKey, limits::kPositions),
                         reader.integer("attention.sliding_window_pattern", limits::kLayers, kGemma3Period));
    rotate_windowed_layers(config);
}

}  // namespace

const Architecture& gemma3_architecture() {
    static const Architecture architecture{
        .name = "gemma3_text",
        .hf_class = "Gemma3ForCausalLM",
        .gguf_name = "gemma3",
        .hf = {.activation = "hidden_activation", .default_activation = kGemmaActivation},
        .ties_embeddings = true,
        .rope = {.base = kGlobalBase},
        .complete_hf = complete_gemma3_hf,
        .complete_gguf = complete_gemma3_gguf};
    return architecture;
}

}  // namespace tessera::import
