#include "import/models/gemma.h"
#include "import/models/windows.h"

// Gemma 3, its language model: five layers with a sliding window and rotary frequencies of their own before
// each one without; the heads of Q and K are normalised. Source: modeling_gemma3.py and
// configuration_gemma3.py of HuggingFace transformers; gemma3.cpp of llama.cpp.

namespace tessera::import {
namespace {

constexpr int64_t kGemma3LayersOf27B = 62;

void rotate_windowed_layers(DecoderConfig& config) {
    config.set(Presence::kAlways, {LayerTensor::kQueryNorm, LayerTensor::kKeyNorm});
    for (LayerKind& layer : config.form.layers)
        if (layer.is_windowed) layer.rope = LayerRope::kLocal;
}

void complete_gemma3_hf(HfSettings& settings, DecoderConfig& config) {
    complete_gemma_hf(settings, config);
    const int64_t period = settings.integer("sliding_window_pattern", {1, limits::kLayers});
    if (!window_by_layer_types(settings, config)) window_by_period(config, read_window(settings), period);
    settings.ignore("_sliding_window_pattern");  // the class writes it, and does not read it
    settings.ignore("attn_logit_softcapping");   // likewise
    rotate_windowed_layers(config);
}

void complete_gemma3_gguf(GgufReader& reader, DecoderConfig& config) {
    complete_gemma_gguf(reader, config, kGemma3LayersOf27B);
    constexpr double kLowestBase = 1e-3, kHighestBase = 1e15;
    double& base = config.local_rope.base;
    base = reader.real("rope.freq_base_swa", kLowestBase, kHighestBase);
    if (!reader.has("rope.freq_base_swa"))  // ollama has another name for it
        base = reader.real("rope.local.freq_base", kLowestBase, kHighestBase, base);
    read_gguf_windows(reader, config);
    reader.ignore("attn_logit_softcapping");  // llama.cpp does not read it either
    rotate_windowed_layers(config);
}

}  // namespace

const Architecture& gemma3_architecture() {
    static const Architecture architecture{.name = "gemma3_text",
                                           .hf_class = "Gemma3ForCausalLM",
                                           .gguf_name = "gemma3",
                                           .hf = {.activation = "hidden_activation"},
                                           .rotates_part_in_gguf = true,
                                           .gguf_activation = kGemmaActivation,
                                           .rope = {.is_by_layer_types = true},
                                           .complete_hf = complete_gemma3_hf,
                                           .complete_gguf = complete_gemma3_gguf};
    return architecture;
}

}  // namespace tessera::import
