#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/ops/elementwise.h"

/// The way a decoder computes, besides its sizes and the tensors that its layers have.
namespace tessera::import {

enum class NormForm : uint8_t {
    kRms,         ///< RMSNorm
    kRmsFromOne,  ///< RMSNorm whose stored scales are differences from 1
    kLayer,       ///< LayerNorm with a bias
};

/// The rotary tables that the queries and keys of a layer take.
enum class LayerRope : uint8_t { kNone, kGlobal, kLocal };

/// The differences between the layers of one model, besides their tensors.
struct LayerKind {
    LayerRope rope = LayerRope::kGlobal;
    bool is_windowed = false;  ///< attention reaches back by the window only
    bool operator==(const LayerKind&) const = default;
};

struct DecoderForm {
    NormForm norm = NormForm::kRms;
    ops::ActivationFunction activation = ops::ActivationFunction::kSilu;
    double embedding_scale = 1;
    double attention_scale = 0;     ///< of the scores; 0: 1 / sqrt(width of a head)
    double attention_cap = 0;       ///< soft cap of the scores; 0: none
    double logits_cap = 0;          ///< soft cap of the logits; 0: none
    int64_t window = 0;             ///< tokens that a windowed layer sees
    bool shares_of_chosen = false;  ///< shares of experts are of the chosen ones, not of all
    int64_t first_position = 0;     ///< row of position 0 in a table of learned positions
    std::vector<LayerKind> layers;  ///< one for each layer

    bool has(LayerRope rope) const {
        return std::ranges::find(layers, rope, &LayerKind::rope) != layers.end();
    }
};

}  // namespace tessera::import
