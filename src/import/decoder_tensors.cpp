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

/// In the order of LayerTensor. Sources: modeling_llama.py, modeling_qwen2.py and modeling_qwen3.py of
/// HuggingFace transformers; docs/gguf.md of ggml, "Standardized tensor names".
constexpr std::array<Names, kLayerTensors> kLayerNames = {{
    {"attention_norm", "input_layernorm.weight", "attn_norm.weight"},
    {"q", "self_attn.q_proj.weight", "attn_q.weight"},
    {"q_bias", "self_attn.q_proj.bias", "attn_q.bias"},
    {"q_norm", "self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"k", "self_attn.k_proj.weight", "attn_k.weight"},
    {"k_bias", "self_attn.k_proj.bias", "attn_k.bias"},
    {"k_norm", "self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"v", "self_attn.v_proj.weight", "attn_v.weight"},
    {"v_bias", "self_attn.v_proj.bias", "attn_v.bias"},
    {"output", "self_attn.o_proj.weight", "attn_output.weight"},
    {"output_bias", "self_attn.o_proj.bias", "attn_output.bias"},
    {"feed_forward_norm", "post_attention_layernorm.weight", "ffn_norm.weight"},
    {"gate", "mlp.gate_proj.weight", "ffn_gate.weight"},
    {"gate_bias", "mlp.gate_proj.bias", "ffn_gate.bias"},
    {"up", "mlp.up_proj.weight", "ffn_up.weight"},
    {"up_bias", "mlp.up_proj.bias", "ffn_up.bias"},
    {"down", "mlp.down_proj.weight", "ffn_down.weight"},
    {"down_bias", "mlp.down_proj.bias", "ffn_down.bias"},
}};

const Names& names_of(LayerTensor tensor) {
    return kLayerNames[static_cast<size_t>(tensor)];
}

}  // namespace

std::string source_name(LayerTensor tensor, int64_t layer, NameStyle style) {
    return style == NameStyle::kGguf
               ? fmt::format("blk.{}.{}", layer, names_of(tensor).gguf)
               : fmt::format("model.layers.{}.{}", layer, names_of(tensor).hugging_face);
}

std::string source_name(OuterTensor tensor, NameStyle style) {
    const bool gguf = style == NameStyle::kGguf;
    switch (tensor) {
        case OuterTensor::kEmbedding:
            return gguf ? "token_embd.weight" : "model.embed_tokens.weight";
        case OuterTensor::kFinalNorm:
            return gguf ? "output_norm.weight" : "model.norm.weight";
        case OuterTensor::kHead:
            return gguf ? "output.weight" : "lm_head.weight";
    }
    TESSERA_CHECK(false, "outer tensor {}", static_cast<int>(tensor));
}

std::string_view name(LayerTensor tensor) {
    return names_of(tensor).graph;
}

bool is_matrix(LayerTensor tensor) {
    return shape_of(tensor, DecoderSize{}).size() == 2;
}

std::vector<int64_t> shape_of(LayerTensor tensor, const DecoderSize& size) {
    const int64_t query = size.heads * size.head_width;
    const int64_t cached = size.cache_heads * size.head_width;
    switch (tensor) {
        case LayerTensor::kAttentionNorm:
        case LayerTensor::kFeedForwardNorm:
        case LayerTensor::kOutputBias:
        case LayerTensor::kDownBias:
            return {size.hidden};
        case LayerTensor::kQueryNorm:
        case LayerTensor::kKeyNorm:
            return {size.head_width};
        case LayerTensor::kQuery:
            return {query, size.hidden};
        case LayerTensor::kQueryBias:
            return {query};
        case LayerTensor::kKey:
        case LayerTensor::kValue:
            return {cached, size.hidden};
        case LayerTensor::kKeyBias:
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
    }
    TESSERA_CHECK(false, "layer tensor {}", static_cast<int>(tensor));
}

std::vector<int64_t> shape_of(OuterTensor tensor, const DecoderSize& size) {
    if (tensor == OuterTensor::kFinalNorm) return {size.hidden};
    return {size.vocabulary, size.hidden};
}

}  // namespace tessera::import
