#include "import/hf/unsupported_settings.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "support/error.h"

namespace tessera {
namespace {

struct Refused {
    const char* field;
    const char* what;
};

/// Refused unless absent, null, false, 0 or empty.
constexpr Refused kNeutralIfEmpty[] = {
    {"quantization_config", "quantised weights"},
    {"compression_config", "compressed weights"},
    {"num_experts", "mixture of experts"},
    {"num_local_experts", "mixture of experts"},
    {"n_routed_experts", "mixture of experts"},
    {"num_experts_per_tok", "mixture of experts"},
    {"moe_intermediate_size", "mixture of experts"},
    {"n_shared_experts", "mixture of experts"},
    {"shared_expert_intermediate_size", "mixture of experts"},
    {"attn_logit_softcapping", "a soft cap of the attention scores"},
    {"final_logit_softcapping", "a soft cap of the logits"},
    {"query_pre_attn_scalar", "a scale of the attention scores of its own"},
    {"attention_multiplier", "a scale of the attention scores of its own"},
    {"attention_chunk_size", "attention within chunks"},
    {"no_rope_layers", "layers without position embedding"},
    {"no_rope_layer_interval", "layers without position embedding"},
    {"cross_attention_layers", "cross-attention"},
    {"add_cross_attention", "cross-attention"},
    {"is_encoder_decoder", "an encoder"},
    {"use_bidirectional_attention", "attention that is not causal"},
    {"alibi", "a position bias of the attention scores"},
    {"clip_qkv", "clipping of queries, keys and values"},
    {"qk_layernorm", "layer normalisation of queries and keys"},
    {"use_qk_norm", "normalisation of queries and keys"},
    {"kv_lora_rank", "latent attention"},
    {"q_lora_rank", "latent attention"},
    {"parallel_attn", "attention and feed-forward side by side"},
    {"use_parallel_residual", "attention and feed-forward side by side"},
    {"vision_config", "images"},
    {"audio_config", "audio"},
    {"text_config", "a model around the language model"},
};

/// Refused unless absent, null or 1.
constexpr Refused kNeutralIfOne[] = {
    {"partial_rotary_factor", "rotation of a part of each head"},
    {"rotary_pct", "rotation of a part of each head"},
    {"logit_scale", "scaled logits"},
    {"logits_scaling", "scaled logits"},
    {"embedding_multiplier", "scaled embeddings"},
    {"scale_emb", "scaled embeddings"},
    {"residual_multiplier", "scaled residuals"},
    {"scale_depth", "scaled residuals"},
};

/// Of no effect on what a step computes: training, bookkeeping, output options, other frameworks.
constexpr std::string_view kHarmless[] = {
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "attention_dropout",
    "auto_map",
    "bos_token_id",
    "chunk_size_feed_forward",
    "hidden_dropout",
    "id2label",
    "initializer_range",
    "label2id",
    "max_window_layers",
    "mlp_bias",
    "attention_bias",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "pad_token_id",
    "pretraining_tp",
    "resid_pdrop",
    "return_dict",
    "sliding_window",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "unk_token_id",
    "use_cache",
    "use_mrope",
    "use_sliding_window",
};

void refuse_activation(HfSettings& settings, const char* field) {
    const auto activation = settings.text(field);
    if (activation && *activation != "silu" && *activation != "swish")
        settings.refuse(field, "expected silu");
}

void refuse_layer_types(HfSettings& settings) {
    const std::vector<std::string> types = settings.texts("layer_types");
    if (std::any_of(types.begin(), types.end(),
                    [](const std::string& type) { return type != "full_attention"; }))
        settings.refuse("layer_types", "expected full_attention in every layer");
}

}  // namespace

void refuse_unsupported_settings(HfSettings& settings) {
    refuse_activation(settings, "hidden_act");
    refuse_activation(settings, "hidden_activation");
    refuse_layer_types(settings);
    for (const Refused& each : kNeutralIfEmpty) settings.refuse_unless_neutral(each.field, each.what);
    for (const Refused& each : kNeutralIfOne) settings.refuse_unless_number(each.field, 1, each.what);
}

std::vector<std::string> unknown_settings(const HfSettings& settings) {
    std::vector<std::string> unknown = settings.unread();
    std::erase_if(unknown, [](const std::string& field) {
        return std::find(std::begin(kHarmless), std::end(kHarmless), field) != std::end(kHarmless);
    });
    return unknown;
}

}  // namespace tessera
