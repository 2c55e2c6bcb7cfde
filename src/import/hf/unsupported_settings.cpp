#include "import/hf/unsupported_settings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "import/settings_account.h"

namespace tessera::import {
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
    {"use_mrope", "positions with several axes"},
    {"rope_interleaved", "rotation of adjacent pairs"},
    {"rope_interleave", "rotation of adjacent pairs"},
    {"vision_config", "images"},
    {"audio_config", "audio"},
    {"text_config", "a model around the language model"},
};

/// Refused unless absent, null or true.
constexpr Refused kNeutralIfTrue[] = {
    {"is_causal", "attention that is not causal"},
    {"causal", "attention that is not causal"},
    {"use_causal_mask", "attention that is not causal"},
    {"causal_attention", "attention that is not causal"},
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

constexpr HarmlessSettings kHarmless[] = {
    {"training",
     "activation_dropout attention_dropout attention_probs_dropout_prob attn_pdrop classifier_dropout "
     "embd_pdrop emb_pdrop dropout embed_dropout embedding_dropout resid_dropout residual_dropout layerdrop "
     "hidden_dropout hidden_dropout_prob mlp_dropout resid_pdrop initializer_range gradient_checkpointing "
     "output_router_logits router_aux_loss_coef z_loss_coefficient use_fused_cross_entropy loss_type"},
    {"how others compute the same",
     "_attn_implementation _attn_implementation_autoset _attn_implementation_internal attn_implementation "
     "attn_impl use_flash_attn use_flash_attention experts_implementation _experts_implementation "
     "_flash_attn_2_enabled chunk_size_feed_forward "
     "pretraining_tp torchscript use_bfloat16 use_cache return_dict return_dict_in_generate "
     "num_logits_to_keep reference_compile repad_logits_with_grad "
     "output_attentions output_hidden_states output_scores cache_implementation fused_mlp use_fused_rms_norm "
     "use_fused_mlp is_decoder tie_encoder_decoder"},
    {"names and versions",
     "_commit_hash _name_or_path _hf_class name_or_path transformers_version unsloth_version unsloth_fixed "
     "_unsloth_version peft_version model_name id2label label2id num_labels problem_type finetuning_task "
     "task_specific_params base_model_tp_plan base_model_pp_plan is_llama_config"},
    {"of the tokenizer, and checked there",
     "pad_token_id unk_token_id sep_token_id cls_token_id mask_token_id decoder_start_token_id "
     "forced_bos_token_id forced_eos_token_id bos_token eos_token pad_token unk_token tokenizer_class "
     "tokenizer_name prefix "
     "chat_template"},
    {"how long a text may become, which Tessera is told by --context",
     "max_sequence_length model_max_length max_seq_len seq_length original_max_position_embeddings "
     "context_window_size prefill_chunk_size"},
    {"defaults of generating, which Tessera is told by its options",
     "bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping "
     "encoder_no_repeat_ngram_size exponential_decay_length_penalty length_penalty max_length min_length "
     "max_new_tokens no_repeat_ngram_size num_beam_groups num_beams num_return_sequences "
     "remove_invalid_values "
     "repetition_penalty suppress_tokens temperature top_k top_p typical_p min_p"},
    {"of other frameworks", "tf_legacy_loss use_tensorrt mlx_* onnx_* transformers.js_config"},
};

/// Code beside the checkpoint: transformers runs it only if it is told to trust it, and Tessera never does.
void warn_of_code(HfSettings& settings) {
    if (settings.has("auto_map")) settings.warn("auto_map", "code beside the checkpoint is not run");
}

void refuse_layer_types(HfSettings& settings) {
    const std::vector<std::string> types = settings.texts("layer_types");
    if (std::any_of(types.begin(), types.end(),
                    [](const std::string& type) { return type != "full_attention"; }))
        settings.refuse("layer_types", "expected full_attention in every layer");
}

}  // namespace

void refuse_unsupported_settings(HfSettings& settings) {
    std::set<std::string, std::less<>> unread;
    for (const UnreadSetting& each : settings.unread()) unread.insert(each.name);
    const auto is_unread = [&](const Refused& each) { return unread.contains(each.field); };
    if (unread.contains("layer_types")) refuse_layer_types(settings);
    warn_of_code(settings);
    for (const Refused& each : kNeutralIfEmpty)
        if (is_unread(each)) settings.refuse_unless_neutral(each.field, each.what);
    for (const Refused& each : kNeutralIfTrue)
        if (is_unread(each) && !settings.boolean(each.field, true)) settings.refuse(each.field, each.what);
    for (const Refused& each : kNeutralIfOne)
        if (is_unread(each)) settings.refuse_unless_number(each.field, 1, each.what);
}

void account_for_rest(const HfSettings& settings, Findings& findings) {
    account_for(settings.unread(), kHarmless, findings);
}

}  // namespace tessera::import
