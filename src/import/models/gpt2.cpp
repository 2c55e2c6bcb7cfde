#include <array>

#include "import/models/architecture.h"
#include "import/models/learned_positions.h"

// GPT-2: LayerNorm, learned positions, Q, K and V in one matrix, GELU without a gate. Folders store matrices
// transposed (Conv1D). Source: modeling_gpt2.py and configuration_gpt2.py of HuggingFace transformers;
// gpt2.cpp of llama.cpp.

namespace tessera::import {
namespace {

using enum LayerTensor;

constexpr std::array kFused = {kQuery, kKey, kValue};
constexpr std::array kFusedBiases = {kQueryBias, kKeyBias, kValueBias};

void name_tensors(TensorNames& names) {
    names.base = "transformer.";
    names.layers = "h.";
    names[OuterTensor::kEmbedding] = "wte.weight";
    names[OuterTensor::kPositions] = "wpe.weight";
    names[OuterTensor::kFinalNorm] = "ln_f.weight";
    names[OuterTensor::kFinalNormBias] = "ln_f.bias";
    names[kAttentionNorm] = "ln_1.weight";
    names[kAttentionNormBias] = "ln_1.bias";
    names[kOutputBias] = "attn.c_proj.bias";
    names[kFeedForwardNorm] = "ln_2.weight";
    names[kFeedForwardNormBias] = "ln_2.bias";
    names[kUpBias] = "mlp.c_fc.bias";
    names[kDownBias] = "mlp.c_proj.bias";
}

void complete_gpt2_hf(HfSettings& settings, DecoderConfig& config) {
    set_learned_positions(config, 0);
    name_tensors(config.names);
    split(config, "attn.c_attn.weight", kFused, true);
    split(config, "attn.c_attn.bias", kFusedBiases);
    split(config, "attn.c_proj.weight", std::array{kOutput}, true);
    split(config, "mlp.c_fc.weight", std::array{kUp}, true);
    split(config, "mlp.c_proj.weight", std::array{kDown}, true);
    config.buffers = {"attn.bias", "attn.masked_bias"};  // the causal mask
    if (!settings.boolean("scale_attn_weights", true)) config.form.attention_scale = 1;
    settings.refuse_unless_neutral("scale_attn_by_inverse_layer_idx", "a scale of the scores for each layer");
    settings.ignore("reorder_and_upcast_attn");  // the same in F32
    settings.ignore("n_ctx");
    for (const char* head : {"summary_activation", "summary_first_dropout", "summary_proj_to_labels",
                             "summary_type", "summary_use_proj"})
        settings.ignore(head);  // of other tasks
}

void complete_gpt2_gguf(GgufReader&, DecoderConfig& config) {
    set_learned_positions(config, 0);
}

}  // namespace

const Architecture& gpt2_architecture() {
    static const Architecture architecture{.name = "gpt2",
                                           .hf_class = "GPT2LMHeadModel",
                                           .hf = {.layers = "n_layer",
                                                  .hidden = "n_embd",
                                                  .feed_forward = "n_inner",
                                                  .heads = "n_head",
                                                  .positions = "n_positions",
                                                  .epsilon = "layer_norm_epsilon",
                                                  .activation = "activation_function",
                                                  .is_feed_forward_fourfold = true,
                                                  .aliases = {{"n_layer", "num_hidden_layers"},
                                                              {"n_embd", "hidden_size"},
                                                              {"n_head", "num_attention_heads"},
                                                              {"n_positions", "max_position_embeddings"}}},
                                           .gguf_activation = ops::ActivationFunction::kGeluTanh,
                                           .complete_hf = complete_gpt2_hf,
                                           .complete_gguf = complete_gpt2_gguf};
    return architecture;
}

}  // namespace tessera::import
