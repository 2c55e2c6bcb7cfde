#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/weight_format.h"

/// The tensors of a decoder-only transformer, their shapes, and their names in checkpoints.
namespace tessera::import {

enum class LayerTensor : uint8_t {
    kAttentionNorm,
    kQuery,
    kQueryBias,
    kQueryNorm,
    kKey,
    kKeyBias,
    kKeyNorm,
    kValue,
    kValueBias,
    kOutput,
    kOutputBias,
    kFeedForwardNorm,
    kGate,
    kGateBias,
    kUp,
    kUpBias,
    kDown,
    kDownBias,
};
inline constexpr size_t kLayerTensors = 18;

/// The step's own tensors around the layers.
enum class OuterTensor : uint8_t { kEmbedding, kFinalNorm, kHead };
inline constexpr size_t kOuterTensors = 3;

/// Format of each tensor of one layer that exists; all that the structure of a layer depends on. Norms and
/// biases are one operand.
using LayerFormats = std::array<std::optional<ops::WeightFormat>, kLayerTensors>;

struct DecoderSize {
    int64_t layers = 0;
    int64_t hidden = 0;
    int64_t feed_forward = 0;
    int64_t heads = 0;
    int64_t cache_heads = 0;
    int64_t head_width = 0;
    int64_t vocabulary = 0;
};

enum class NameStyle : uint8_t { kHuggingFace, kGguf };

/// "model.layers.3.self_attn.q_proj.weight", "blk.3.attn_q.weight".
std::string source_name(LayerTensor tensor, int64_t layer, NameStyle style);
std::string source_name(OuterTensor tensor, NameStyle style);

/// Factors of a GGUF file by which the rotary frequencies are divided, for Llama 3.1 and later:
/// f32[head_width / 2].
inline constexpr const char* kRopeFactorsSource = "rope_freqs.weight";

/// Name in the graph: "q", "q_bias", "attention_norm".
std::string_view name(LayerTensor tensor);

/// Whether the tensor is a matrix, not a norm or bias.
bool is_matrix(LayerTensor tensor);

/// Outermost axis first; matrices are [outputs, inputs].
std::vector<int64_t> shape_of(LayerTensor tensor, const DecoderSize& size);
std::vector<int64_t> shape_of(OuterTensor tensor, const DecoderSize& size);

}  // namespace tessera::import
