#include "import/models/architecture.h"

// Llama 1, 2 and 3.x. Source: modeling_llama.py and configuration_llama.py of HuggingFace transformers;
// llama.cpp's converter permutes the rows of Q and K, so that a GGUF file rotates adjacent pairs.

namespace tessera::import {
namespace {

constexpr auto kAttentionBiases = {LayerTensor::kQueryBias, LayerTensor::kKeyBias, LayerTensor::kValueBias,
                                   LayerTensor::kOutputBias};
constexpr auto kFeedForwardBiases = {LayerTensor::kGateBias, LayerTensor::kUpBias, LayerTensor::kDownBias};

void complete_llama_hf(HfSettings& settings, DecoderConfig& config) {
    if (settings.boolean("attention_bias", false)) config.set(Presence::kAlways, kAttentionBiases);
    if (settings.boolean("mlp_bias", false)) config.set(Presence::kAlways, kFeedForwardBiases);
    // Mistral's window under the name of Llama: the class ignores it, the model was trained with it.
    settings.refuse_unless_neutral("sliding_window", "attention over a sliding window");
    settings.refuse_unless_neutral("use_sliding_window", "attention over a sliding window");
    settings.ignore("max_window_layers");  // the layers that such a window would reach
}

void complete_llama_gguf(GgufReader&, DecoderConfig& config) {
    config.set(Presence::kIfStored, kAttentionBiases);
    config.set(Presence::kIfStored, kFeedForwardBiases);
}

}  // namespace

const Architecture& llama_architecture() {
    static const Architecture architecture{.name = "llama",
                                           .hf_class = "LlamaForCausalLM",
                                           .gguf_rope_form = ops::RopeForm::kPairs,
                                           .complete_hf = complete_llama_hf,
                                           .complete_gguf = complete_llama_gguf};
    return architecture;
}

}  // namespace tessera::import
