#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ops/weight_format.h"

/// The tensors of a decoder-only transformer, their shapes, and their names in checkpoints.
namespace tessera::import {

enum class LayerTensor : uint8_t {
    kAttentionNorm,
    kAttentionNormBias,
    kQuery,
    kQueryBias,
    kQueryNorm,            ///< of each head
    kQueryProjectionNorm,  ///< of all heads together
    kKey,
    kKeyBias,
    kKeyNorm,
    kKeyProjectionNorm,
    kValue,
    kValueBias,
    kOutput,
    kOutputBias,
    kAttentionPostNorm,  ///< of the attention's result, before it is added
    kFeedForwardNorm,
    kFeedForwardNormBias,
    kGate,
    kGateBias,
    kUp,
    kUpBias,
    kDown,
    kDownBias,
    kFeedForwardPostNorm,
    kRouter,      ///< scores of the experts
    kExpertGate,  ///< of all experts, one behind the other; likewise the next two
    kExpertUp,
    kExpertDown,
};
inline constexpr size_t kLayerTensors = 28;

/// The step's own tensors, outside the layers.
enum class OuterTensor : uint8_t { kEmbedding, kPositions, kFinalNorm, kFinalNormBias, kHead };
inline constexpr size_t kOuterTensors = 5;

/// Format of each tensor of one layer that exists: the structure of a layer depends on nothing else. Norms
/// and biases are one operand.
using LayerFormats = std::array<std::optional<ops::WeightFormat>, kLayerTensors>;

struct DecoderSize {
    int64_t layers = 0;
    int64_t hidden = 0;
    int64_t feed_forward = 0;
    int64_t heads = 0;
    int64_t cache_heads = 0;
    int64_t head_width = 0;
    int64_t vocabulary = 0;
    int64_t positions = 0;       ///< rows of the table of learned positions; 0: there is none
    int64_t experts = 0;         ///< of each layer, instead of one feed-forward; 0: there are none
    int64_t experts_chosen = 0;  ///< by each token
    int64_t expert_width = 0;    ///< the feed-forward width of one
};

enum class NameStyle : uint8_t { kHuggingFace, kGguf };

/// The names of the tensors of a checkpoint: by default those of Llama, which an architecture changes.
struct TensorNames {
    NameStyle style = NameStyle::kHuggingFace;
    std::string base;    ///< "model.": before all names of a folder but the head; left out of some folders
    std::string layers;  ///< behind the base, before the number of a layer: "layers.", "blk."
    std::array<std::string, kLayerTensors> layer;  ///< behind "N."
    std::array<std::string, kOuterTensors> outer;  ///< behind the base
    bool is_embedding_in_head = false;             ///< which is stored alone, and both are one

    std::string& operator[](LayerTensor tensor) { return layer[static_cast<size_t>(tensor)]; }
    std::string& operator[](OuterTensor tensor) { return outer[static_cast<size_t>(tensor)]; }
    /// "model.layers.3."
    std::string prefix(int64_t layer_) const;
};
TensorNames common_names(NameStyle style);

/// "model.layers.3.self_attn.q_proj.weight", "blk.3.attn_q.weight".
std::string source_name(LayerTensor tensor, int64_t layer, const TensorNames& names);
std::string source_name(OuterTensor tensor, const TensorNames& names);

/// Factors of a GGUF file that divide the rotary frequencies, f32[pairs that are rotated]: for Llama 3.1 and
/// later, and for contexts up to that of the training and beyond it.
inline constexpr const char* kRopeFactorsSource = "rope_freqs.weight";
inline constexpr const char* kShortRopeFactorsSource = "rope_factors_short.weight";
inline constexpr const char* kLongRopeFactorsSource = "rope_factors_long.weight";

/// Name in the graph: "q", "q_bias", "attention_norm".
std::string_view name(LayerTensor tensor);

/// True if the tensor is a matrix, not a norm or bias.
bool is_matrix(LayerTensor tensor);

/// Outermost axis first; matrices are [outputs, inputs].
std::vector<int64_t> shape_of(LayerTensor tensor, const DecoderSize& size);
std::vector<int64_t> shape_of(OuterTensor tensor, const DecoderSize& size);

}  // namespace tessera::import
