#pragma once

#include <cstdint>
#include <string>

#include "import/hf/settings.h"
#include "import/rope_tables.h"

namespace tessera::import {

/// Properties of the rotary position embedding that follow from the architecture and the sizes.
struct RopeRules {
    bool has_longrope = false;       ///< Phi-3, whose early files call it "su" and "yarn"
    bool may_rotate_part = false;    ///< `partial_rotary_factor` counts
    bool is_by_layer_types = false;  ///< Gemma 3: layers with a window have parameters of their own
    int64_t max_positions = 0;       ///< that the model is made for
    int64_t head_width = 0;
};

/// Reads `rope_theta`, and the scaling in `rope_scaling` or `rope_parameters`, of layers with full attention;
/// a scaling that is not supported goes to the findings.
RopeConfig read_rope(HfSettings& settings, const RopeRules& rules);

/// As read_rope, of layers with a sliding window: `rope_parameters.sliding_attention`, or the base in
/// `rope_local_base_freq`.
RopeConfig read_local_rope(HfSettings& settings, const RopeRules& rules);

}  // namespace tessera::import
