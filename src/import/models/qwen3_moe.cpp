#include "import/models/architecture.h"
#include "import/models/experts.h"
#include "import/models/qwen_window.h"

// Qwen3 with experts in every layer. A token's experts share its result by the softmax of the router's
// scores, over all experts or, with `norm_topk_prob`, over the chosen ones. Source: modeling_qwen3_moe.py and
// configuration_qwen3_moe.py of HuggingFace transformers; llama.cpp, which always takes the latter.

namespace tessera::import {
namespace {

constexpr auto kQwen3MoeHeadNorms = {LayerTensor::kQueryNorm, LayerTensor::kKeyNorm};
constexpr int64_t kQwen3MoeExperts = 128, kQwen3MoeChosen = 8, kQwen3MoeWidth = 768;

/// transformers also writes `num_experts` as `num_local_experts`.
int64_t read_expert_count(HfSettings& settings) {
    constexpr IntegerBounds kBounds{1, limits::kExperts};
    const int64_t count = settings.integer("num_local_experts", kBounds, kQwen3MoeExperts);
    return settings.integer("num_experts", kBounds, count);
}

void complete_qwen3_moe_hf(HfSettings& settings, DecoderConfig& config) {
    config.set(Presence::kAlways, kQwen3MoeHeadNorms);
    if (settings.boolean("attention_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kQueryBias, LayerTensor::kKeyBias,
                                       LayerTensor::kValueBias, LayerTensor::kOutputBias});
    read_qwen_window(settings, config);
    const int64_t experts = read_expert_count(settings);
    const int64_t chosen = settings.integer("num_experts_per_tok", {1, limits::kExperts}, kQwen3MoeChosen);
    const int64_t width =
        settings.integer("moe_intermediate_size", {1, limits::kFeedForward}, kQwen3MoeWidth);
    set_experts(config, experts, chosen, width, settings.path(), "num_experts_per_tok");
    stack_experts(config, "mlp.experts.", "gate_proj", "up_proj", "down_proj");
    config.form.shares_of_chosen = settings.boolean("norm_topk_prob", false);
    settings.refuse_unless_number("decoder_sparse_step", 1, "layers without experts");
    settings.refuse_unless_neutral("mlp_only_layers", "layers without experts");
    settings.ignore("output_router_logits");
    settings.ignore("router_aux_loss_coef");
}

void complete_qwen3_moe_gguf(GgufReader& reader, DecoderConfig& config) {
    config.set(Presence::kAlways, kQwen3MoeHeadNorms);
    const int64_t experts = reader.integer("expert_count", limits::kExperts);
    const int64_t chosen = reader.integer("expert_used_count", limits::kExperts);
    const int64_t width = reader.integer("expert_feed_forward_length", limits::kFeedForward);
    set_experts(config, experts, chosen, width, reader.settings.path(), reader.key("expert_used_count"));
    config.form.shares_of_chosen = true;
}

}  // namespace

const Architecture& qwen3_moe_architecture() {
    static const Architecture architecture{.name = "qwen3_moe",
                                           .hf_class = "Qwen3MoeForCausalLM",
                                           .gguf_name = "qwen3moe",
                                           .complete_hf = complete_qwen3_moe_hf,
                                           .complete_gguf = complete_qwen3_moe_gguf};
    return architecture;
}

}  // namespace tessera::import
