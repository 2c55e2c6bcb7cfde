#include "import/models/architecture.h"

// Qwen2 and Qwen2.5: Llama with biases of Q, K and V that no setting switches off. Source: modeling_qwen2.py
// of HuggingFace transformers.

namespace tessera {
namespace {

constexpr auto kBiases = {LayerTensor::kQueryBias, LayerTensor::kKeyBias, LayerTensor::kValueBias};

void complete_qwen2_hf(HfSettings& settings, DecoderConfig& config) {
    config.set(Presence::kAlways, kBiases);
    if (settings.boolean("use_sliding_window", false))
        settings.refuse("use_sliding_window", "attention over a sliding window");
}

void complete_qwen2_gguf(DecoderConfig& config) {
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

}  // namespace tessera
