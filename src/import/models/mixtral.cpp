#include "import/models/architecture.h"
#include "import/models/experts.h"
#include "import/models/windows.h"

// Mixtral: a Mistral with experts in every layer, which share a token's result by the softmax of the scores
// of the chosen ones. llama.cpp calls it a llama. Source: modeling_mixtral.py and configuration_mixtral.py of
// HuggingFace transformers.

namespace tessera::import {
namespace {

void complete_mixtral_hf(HfSettings& settings, DecoderConfig& config) {
    constexpr IntegerBounds kBounds{1, limits::kExperts};
    const int64_t chosen = settings.integer("num_experts_per_tok", kBounds);
    const int64_t experts = settings.integer("num_local_experts", kBounds);
    set_experts(config, experts, chosen, config.size.feed_forward, settings.path(), "num_experts_per_tok");
    name_folder_experts(config,
                        {"block_sparse_moe.experts.*.w1.weight", "block_sparse_moe.experts.*.w3.weight",
                         "block_sparse_moe.experts.*.w2.weight"},
                        {"block_sparse_moe.", "mlp."});
    config.names[LayerTensor::kRouter] = "block_sparse_moe.gate.weight";
    config.stored_together.push_back({"mlp.gate.weight", {LayerTensor::kRouter}});
    config.form.shares_of_chosen = true;
    settings.ignore("output_router_logits");
    settings.ignore("router_aux_loss_coef");
    settings.ignore("router_jitter_noise");  // of training
    window_all_layers(settings, config);
}

void complete_mixtral_gguf(GgufReader&, DecoderConfig&) {}

}  // namespace

const Architecture& mixtral_architecture() {
    static const Architecture architecture{.name = "mixtral",
                                           .hf_class = "MixtralForCausalLM",
                                           .has_gguf = false,
                                           .hf = {.aliases = {{"num_local_experts", "num_experts"}}},
                                           .complete_hf = complete_mixtral_hf,
                                           .complete_gguf = complete_mixtral_gguf};
    return architecture;
}

}  // namespace tessera::import
