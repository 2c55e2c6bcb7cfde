#include "import/decoder_tensors.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::import {
namespace {

struct Names {
    std::string_view graph;
    std::string_view hugging_face;  ///< after "model.layers.N."
    std::string_view gguf;          ///< after "blk.N."
};

/// In the order of LayerTensor. Sources: modeling_llama.py, modeling_qwen2.py, modeling_qwen3.py and
/// modeling_olmo2.py of HuggingFace transformers; docs/gguf.md of ggml, "Standardized tensor names".
constexpr std::array<Names, kLayerTensors> kLayerNames = {{
    {"attention_norm", "input_layernorm.weight", "attn_norm.weight"},
    {"attention_norm_bias", "input_layernorm.bias", "attn_norm.bias"},
    {"q", "self_attn.q_proj.weight", "attn_q.weight"},
    {"q_bias", "self_attn.q_proj.bias", "attn_q.bias"},
    {"q_norm", "self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"q_projection_norm", "self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"k", "self_attn.k_proj.weight", "attn_k.weight"},
    {"k_bias", "self_attn.k_proj.bias", "attn_k.bias"},
    {"k_norm", "self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"k_projection_norm", "self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"v", "self_attn.v_proj.weight", "attn_v.weight"},
    {"v_bias", "self_attn.v_proj.bias", "attn_v.bias"},
    {"output", "self_attn.o_proj.weight", "attn_output.weight"},
    {"output_bias", "self_attn.o_proj.bias", "attn_output.bias"},
    {"attention_post_norm", "post_attention_layernorm.weight", "post_attention_norm.weight"},
    {"feed_forward_norm", "post_attention_layernorm.weight", "ffn_norm.weight"},
    {"feed_forward_norm_bias", "post_attention_layernorm.bias", "ffn_norm.bias"},
    {"gate", "mlp.gate_proj.weight", "ffn_gate.weight"},
    {"gate_bias", "mlp.gate_proj.bias", "ffn_gate.bias"},
    {"up", "mlp.up_proj.weight", "ffn_up.weight"},
    {"up_bias", "mlp.up_proj.bias", "ffn_up.bias"},
    {"down", "mlp.down_proj.weight", "ffn_down.weight"},
    {"down_bias", "mlp.down_proj.bias", "ffn_down.bias"},
    {"feed_forward_post_norm", "post_feedforward_layernorm.weight", "post_ffw_norm.weight"},
    {"router", "mlp.gate.weight", "ffn_gate_inp.weight"},
    {"expert_gate", "mlp.experts.*.gate_proj.weight", "ffn_gate_exps.weight"},
    {"expert_up", "mlp.experts.*.up_proj.weight", "ffn_up_exps.weight"},
    {"expert_down", "mlp.experts.*.down_proj.weight", "ffn_down_exps.weight"},
}};

/// In the order of OuterTensor.
constexpr std::array<std::string_view, kOuterTensors> kOuterNames = {
    "embed_tokens.weight", "embed_positions.weight", "norm.weight", "norm.bias", "lm_head.weight"};
constexpr std::array<std::string_view, kOuterTensors> kOuterGgufNames = {
    "token_embd.weight", "position_embd.weight", "output_norm.weight", "output_norm.bias", "output.weight"};

}  // namespace

std::string TensorNames::prefix(int64_t layer_) const {
    return fmt::format("{}{}{}.", base, layers, layer_);
}

TensorNames common_names(NameStyle style) {
    const bool gguf = style == NameStyle::kGguf;
    TensorNames names{.style = style, .base = gguf ? "" : "model.", .layers = gguf ? "blk." : "layers."};
    for (size_t i = 0; i < kLayerTensors; ++i)
        names.layer[i] = gguf ? kLayerNames[i].gguf : kLayerNames[i].hugging_face;
    for (size_t i = 0; i < kOuterTensors; ++i) names.outer[i] = gguf ? kOuterGgufNames[i] : kOuterNames[i];
    return names;
}

std::string source_name(LayerTensor tensor, int64_t layer, const TensorNames& names) {
    return names.prefix(layer) + names.layer[static_cast<size_t>(tensor)];
}

std::string source_name(OuterTensor tensor, const TensorNames& names) {
    if (tensor == OuterTensor::kEmbedding && names.is_embedding_in_head) tensor = OuterTensor::kHead;
    const std::string& own = names.outer[static_cast<size_t>(tensor)];
    return tensor == OuterTensor::kHead ? own : names.base + own;
}

std::string_view name(LayerTensor tensor) {
    return kLayerNames[static_cast<size_t>(tensor)].graph;
}

bool is_matrix(LayerTensor tensor) {
    return shape_of(tensor, DecoderSize{}).size() == 2;
}

std::vector<int64_t> shape_of(LayerTensor tensor, const DecoderSize& size) {
    const int64_t query = size.heads * size.head_width;
    const int64_t cached = size.cache_heads * size.head_width;
    switch (tensor) {
        case LayerTensor::kAttentionNorm:
        case LayerTensor::kAttentionNormBias:
        case LayerTensor::kAttentionPostNorm:
        case LayerTensor::kFeedForwardNorm:
        case LayerTensor::kFeedForwardNormBias:
        case LayerTensor::kFeedForwardPostNorm:
        case LayerTensor::kOutputBias:
        case LayerTensor::kDownBias:
            return {size.hidden};
        case LayerTensor::kQueryNorm:
        case LayerTensor::kKeyNorm:
            return {size.head_width};
        case LayerTensor::kQuery:
            return {query, size.hidden};
        case LayerTensor::kQueryBias:
        case LayerTensor::kQueryProjectionNorm:
            return {query};
        case LayerTensor::kKey:
        case LayerTensor::kValue:
            return {cached, size.hidden};
        case LayerTensor::kKeyBias:
        case LayerTensor::kKeyProjectionNorm:
        case LayerTensor::kValueBias:
            return {cached};
        case LayerTensor::kOutput:
            return {size.hidden, query};
        case LayerTensor::kGate:
        case LayerTensor::kUp:
            return {size.feed_forward, size.hidden};
        case LayerTensor::kGateBias:
        case LayerTensor::kUpBias:
            return {size.feed_forward};
        case LayerTensor::kDown:
            return {size.hidden, size.feed_forward};
        case LayerTensor::kRouter:
            return {size.experts, size.hidden};
        case LayerTensor::kExpertGate:
        case LayerTensor::kExpertUp:
            return {size.experts * size.expert_width, size.hidden};
        case LayerTensor::kExpertDown:
            return {size.experts * size.hidden, size.expert_width};
    }
    TESSERA_CHECK(false, "layer tensor {}", static_cast<int>(tensor));
}

std::vector<int64_t> shape_of(OuterTensor tensor, const DecoderSize& size) {
    switch (tensor) {
        case OuterTensor::kFinalNorm:
        case OuterTensor::kFinalNormBias:
            return {size.hidden};
        case OuterTensor::kPositions:
            return {size.positions, size.hidden};
        case OuterTensor::kEmbedding:
        case OuterTensor::kHead:
            return {size.vocabulary, size.hidden};
    }
    TESSERA_CHECK(false, "outer tensor {}", static_cast<int>(tensor));
}

}  // namespace tessera::import
