#include "import/models/architecture.h"
#include "import/models/qwen_window.h"

// Qwen3: each head of Q and K is normalised before its rotation. Source: modeling_qwen3.py and
// configuration_qwen3.py of HuggingFace transformers.

namespace tessera::import {
namespace {

constexpr auto kHeadNorms = {LayerTensor::kQueryNorm, LayerTensor::kKeyNorm};

void complete_qwen3_hf(HfSettings& settings, DecoderConfig& config) {
    config.set(Presence::kAlways, kHeadNorms);
    if (settings.boolean("attention_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kQueryBias, LayerTensor::kKeyBias,
                                       LayerTensor::kValueBias, LayerTensor::kOutputBias});
    read_qwen_window(settings, config);
    settings.refuse_unless_neutral("mlp_bias", "biases of the feed-forward");
}

void complete_qwen3_gguf(GgufReader&, DecoderConfig& config) {
    config.set(Presence::kAlways, kHeadNorms);
}

}  // namespace

const Architecture& qwen3_architecture() {
    static const Architecture architecture{.name = "qwen3",
                                           .hf_class = "Qwen3ForCausalLM",
                                           .complete_hf = complete_qwen3_hf,
                                           .complete_gguf = complete_qwen3_gguf};
    return architecture;
}

}  // namespace tessera::import
