#include "import/models/architecture.h"
#include "import/models/windows.h"

// Mistral 7B and its kin: Llama with a sliding window in every layer, or without. GGUF files call it "llama".
// Source: modeling_mistral.py and configuration_mistral.py of HuggingFace transformers.

namespace tessera::import {
namespace {

void complete_mistral_hf(HfSettings& settings, DecoderConfig& config) {
    window_all_layers(settings, config);
    settings.ignore("attention_bias");  // the class has none
    settings.ignore("mlp_bias");
}

void complete_mistral_gguf(GgufReader&, DecoderConfig&) {}

}  // namespace

const Architecture& mistral_architecture() {
    static const Architecture architecture{.name = "mistral",
                                           .hf_class = "MistralForCausalLM",
                                           .has_gguf = false,
                                           .complete_hf = complete_mistral_hf,
                                           .complete_gguf = complete_mistral_gguf};
    return architecture;
}

}  // namespace tessera::import
