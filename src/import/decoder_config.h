#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "import/decoder_form.h"
#include "import/decoder_tensors.h"
#include "import/expert_weights.h"
#include "import/packed_form.h"
#include "import/rope_tables.h"
#include "import/tensor_views.h"
#include "ir/ops/rope.h"

namespace tessera::import {

/// The presence of a tensor in the layers of a model.
enum class Presence : uint8_t { kNever, kAlways, kIfStored };

/// The settings of a decoder-only transformer, from either format, each within its range.
struct DecoderConfig {
    std::string architecture;
    DecoderSize size;
    double epsilon = 1e-6;
    int64_t max_positions = 0;
    RopeConfig rope;
    RopeConfig local_rope;  ///< of layers with LayerRope::kLocal
    DecoderForm form;
    ops::RopeForm rope_form = ops::RopeForm::kHalves;
    std::optional<bool> is_tied;  ///< empty: the head is the embedding if no head is stored
    TensorNames names;
    std::optional<PackedForm> packed;  ///< matrices of a folder that are packed integers
    std::vector<LayerView> views;      ///< tensors that are stored together with others, or transposed
    std::vector<StoredTogether> stored_together;  ///< that may be so, and then become views
    std::vector<ExpertStack> expert_stacks;       ///< matrices of experts that may be stored one by one
    std::vector<std::string> buffers;             ///< end of a name in a layer: stored, but computed anew
    std::array<Presence, kLayerTensors> tensors{};
    bool layers_differ = false;    ///< in a size: refused, and their tensors are not looked at
    std::vector<int64_t> end_ids;  ///< tokens that end a text
    std::string stated_type;       ///< of the weights, where the settings say so: "bfloat16"

    bool is_gguf() const { return names.style == NameStyle::kGguf; }
    Presence& presence(LayerTensor tensor) { return tensors[static_cast<size_t>(tensor)]; }
    void set(Presence presence_, std::initializer_list<LayerTensor> which) {
        for (const LayerTensor tensor : which) presence(tensor) = presence_;
    }
};

/// The largest model that is accepted: larger settings are damage, and computed sizes never overflow.
namespace limits {
inline constexpr int64_t kLayers = 1024;
inline constexpr int64_t kHidden = 1 << 18;
inline constexpr int64_t kFeedForward = 1 << 20;
inline constexpr int64_t kHeads = 4096;
inline constexpr int64_t kExperts = 4096;
inline constexpr int64_t kHeadWidth = 4096;
inline constexpr int64_t kVocabulary = 1 << 24;
inline constexpr int64_t kPositions = 1 << 24;
}  // namespace limits

}  // namespace tessera::import
