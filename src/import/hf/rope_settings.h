#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/hf/settings.h"
#include "import/rope_tables.h"

namespace tessera::import {

/// What the settings of the rotary position embedding leave to those around them.
struct RopeDefaults {
    double base = 10000;           ///< where no setting says it
    int64_t max_positions = 0;     ///< that the model is made for
    int64_t original_context = 0;  ///< of the first training; 0: not known
    bool has_longrope = false;     ///< Phi-3, whose early files call it "su" and "yarn"
};

/// Reads `rope_theta`, and the scaling in `rope_scaling` or `rope_parameters`, of layers with full attention;
/// a scaling that is not supported goes to the findings.
RopeConfig read_rope(HfSettings& settings, const RopeDefaults& defaults);

/// Reads that of layers with a sliding window: `rope_parameters.sliding_attention`, or the base in
/// `rope_local_base_freq`.
RopeConfig read_local_rope(HfSettings& settings, const RopeDefaults& defaults);

}  // namespace tessera::import
