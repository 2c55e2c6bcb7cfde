#include <algorithm>

#include "import/models/architecture.h"
#include "import/models/experts.h"
#include "import/models/qwen_window.h"
#include "import/models/windows.h"

// Qwen3 with experts in every layer. A token's experts share its result by the softmax of the router's
// scores, over all experts or, with `norm_topk_prob`, over the chosen ones. Source: modeling_qwen3_moe.py and
// configuration_qwen3_moe.py of HuggingFace transformers; llama.cpp, which always takes the latter.

namespace tessera::import {
namespace {

constexpr auto kQwen3MoeHeadNorms = {LayerTensor::kQueryNorm, LayerTensor::kKeyNorm};

void complete_qwen3_moe_hf(HfSettings& settings, DecoderConfig& config) {
    config.set(Presence::kAlways, kQwen3MoeHeadNorms);
    if (settings.boolean("attention_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kQueryBias, LayerTensor::kKeyBias,
                                       LayerTensor::kValueBias, LayerTensor::kOutputBias});
    // The class looks at no list of layers.
    if (uses_qwen_window(settings)) window_all_layers(settings, config);
    const int64_t experts = settings.integer("num_experts", {1, limits::kExperts});
    const int64_t chosen = settings.integer("num_experts_per_tok", {1, limits::kExperts});
    const int64_t width = settings.integer("moe_intermediate_size", {1, limits::kFeedForward});
    set_experts(config, experts, chosen, width, settings.path(), "num_experts_per_tok");
    name_folder_experts(
        config,
        {"mlp.experts.*.gate_proj.weight", "mlp.experts.*.up_proj.weight", "mlp.experts.*.down_proj.weight"},
        {"mlp."});
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
    // ollama leaves the width out.
    const int64_t shared = std::max(config.size.feed_forward / chosen, int64_t{1});
    const int64_t width = reader.integer("expert_feed_forward_length", limits::kFeedForward, shared);
    set_experts(config, experts, chosen, width, reader.settings.path(), reader.key("expert_used_count"));
    name_gguf_experts(config);
    read_gguf_shares(reader, config);
}

}  // namespace

const Architecture& qwen3_moe_architecture() {
    static const Architecture architecture{.name = "qwen3_moe",
                                           .hf_class = "Qwen3MoeForCausalLM",
                                           .gguf_name = "qwen3moe",
                                           .hf = {.aliases = {{"num_experts", "num_local_experts"}}},
                                           .complete_hf = complete_qwen3_moe_hf,
                                           .complete_gguf = complete_qwen3_moe_gguf};
    return architecture;
}

}  // namespace tessera::import
