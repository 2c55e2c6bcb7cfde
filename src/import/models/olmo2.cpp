#include "import/models/architecture.h"

// OLMo 2: each branch is normalised behind it, not before, and Q and K as a whole, before their heads are
// taken apart. Source: modeling_olmo2.py and configuration_olmo2.py of HuggingFace transformers.

namespace tessera::import {
namespace {

void set_olmo2_tensors(DecoderConfig& config) {
    config.set(Presence::kNever, {LayerTensor::kAttentionNorm, LayerTensor::kFeedForwardNorm});
    config.set(Presence::kAlways, {LayerTensor::kAttentionPostNorm, LayerTensor::kFeedForwardPostNorm,
                                   LayerTensor::kQueryProjectionNorm, LayerTensor::kKeyProjectionNorm});
}

void complete_olmo2_hf(HfSettings& settings, DecoderConfig& config) {
    set_olmo2_tensors(config);
    if (settings.boolean("attention_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kQueryBias, LayerTensor::kKeyBias,
                                       LayerTensor::kValueBias, LayerTensor::kOutputBias});
}

void complete_olmo2_gguf(GgufReader&, DecoderConfig& config) {
    set_olmo2_tensors(config);
}

}  // namespace

const Architecture& olmo2_architecture() {
    static const Architecture architecture{.name = "olmo2",
                                           .hf_class = "Olmo2ForCausalLM",
                                           .complete_hf = complete_olmo2_hf,
                                           .complete_gguf = complete_olmo2_gguf};
    return architecture;
}

}  // namespace tessera::import
