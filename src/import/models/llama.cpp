#include "import/models/architecture.h"
#include "import/models/experts.h"

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

/// Mixtral: llama.cpp calls it a llama with experts, each as wide as another's feed-forward.
void read_llama_experts(GgufReader& reader, DecoderConfig& config) {
    const int64_t experts = reader.integer("expert_count", limits::kExperts);
    const int64_t chosen = reader.integer("expert_used_count", limits::kExperts);
    set_experts(config, experts, chosen, config.size.feed_forward, reader.settings.path(),
                reader.key("expert_used_count"));
    name_gguf_experts(config);
    read_gguf_shares(reader, config);
}

void complete_llama_gguf(GgufReader& reader, DecoderConfig& config) {
    config.set(Presence::kIfStored, kAttentionBiases);
    if (reader.integer_or_zero("expert_count", limits::kExperts) > 0)
        return read_llama_experts(reader, config);
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
