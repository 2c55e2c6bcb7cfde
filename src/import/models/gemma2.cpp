#include "import/models/gemma.h"
#include "import/models/windows.h"

// Gemma 2: every second layer has a sliding window, beginning with the first; scores and logits have soft
// caps. Source: modeling_gemma2.py and configuration_gemma2.py of HuggingFace transformers; gemma2.cpp of
// llama.cpp.

namespace tessera::import {
namespace {

constexpr int64_t kGemma2Period = 2, kGemma2LayersOf27B = 46;

void complete_gemma2_hf(HfSettings& settings, DecoderConfig& config) {
    complete_gemma_hf(settings, config);
    config.form.attention_cap = read_cap(settings, "attn_logit_softcapping");
    if (!window_by_layer_types(settings, config))
        window_by_period(config, read_window(settings), kGemma2Period);
}

void complete_gemma2_gguf(GgufReader& reader, DecoderConfig& config) {
    complete_gemma_gguf(reader, config, kGemma2LayersOf27B);
    config.form.attention_cap = reader.real("attn_logit_softcapping", 0, kLargestCap);
    read_gguf_windows(reader, config);
}

}  // namespace

const Architecture& gemma2_architecture() {
    static const Architecture architecture{.name = "gemma2",
                                           .hf_class = "Gemma2ForCausalLM",
                                           .hf = {.activation = "hidden_activation"},
                                           .rotates_part_in_gguf = true,
                                           .gguf_activation = kGemmaActivation,
                                           .complete_hf = complete_gemma2_hf,
                                           .complete_gguf = complete_gemma2_gguf};
    return architecture;
}

}  // namespace tessera::import
