#include "import/models/gemma.h"
#include "import/models/windows.h"

// Gemma 2: every second layer has a sliding window, beginning with the first; scores and logits have soft
// caps. Source: modeling_gemma2.py and configuration_gemma2.py of HuggingFace transformers; gemma2.cpp of
// llama.cpp.

namespace tessera::import {
namespace {

constexpr int64_t kGemma2Window = 4096, kGemma2Period = 2, kGemma2LayersOf27B = 46;

void complete_gemma2_hf(HfSettings& settings, DecoderConfig& config) {
    complete_gemma_hf(settings, config, 50, 30);
    if (!window_by_layer_types(settings, config, kGemma2Window))
        window_by_period(config, settings.integer("sliding_window", {1, limits::kPositions}, kGemma2Window),
                         kGemma2Period);
}

void complete_gemma2_gguf(GgufReader& reader, DecoderConfig& config) {
    complete_gemma_gguf(reader, config, kGemma2LayersOf27B);
    window_by_period(config, reader.integer("attention.sliding_window", limits::kPositions, kGemma2Window),
                     reader.integer("attention.sliding_window_pattern", limits::kLayers, kGemma2Period));
}

}  // namespace

const Architecture& gemma2_architecture() {
    static const Architecture architecture{
        .name = "gemma2",
        .hf_class = "Gemma2ForCausalLM",
        .hf = {.activation = "hidden_activation", .default_activation = kGemmaActivation},
        .ties_embeddings = true,
        .complete_hf = complete_gemma2_hf,
        .complete_gguf = complete_gemma2_gguf};
    return architecture;
}

}  // namespace tessera::import
