#include "import/models/architecture.h"
#include "import/models/qwen_window.h"

// Qwen2 and Qwen2.5: Llama with biases of Q, K and V that no setting switches off. Source: modeling_qwen2.py
// of HuggingFace transformers.

namespace tessera::import {
namespace {

constexpr auto kBiases = {LayerTensor::kQueryBias, LayerTensor::kKeyBias, LayerTensor::kValueBias};

void complete_qwen2_hf(HfSettings& settings, DecoderConfig& config) {
    config.set(Presence::kAlways, kBiases);
    settings.ignore("attention_bias");  // the class does not read it
    read_qwen_window(settings, config);
    settings.refuse_unless_neutral("mlp_bias", "biases of the feed-forward");
}

void complete_qwen2_gguf(GgufReader&, DecoderConfig& config) {
    config.set(Presence::kAlways, kBiases);
    config.set(Presence::kIfStored, {LayerTensor::kOutputBias});
}

}  // namespace

const Architecture& qwen2_architecture() {
    static const Architecture architecture{.name = "qwen2",
                                           .hf_class = "Qwen2ForCausalLM",
                                           .complete_hf = complete_qwen2_hf,
                                           .complete_gguf = complete_qwen2_gguf};
    return architecture;
}

}  // namespace tessera::import
