#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/hf/settings.h"
#include "import/rope_tables.h"

namespace tessera::import {

/// Properties of a rotary position embedding that follow from the architecture and the sizes.
struct RopeRules {
    std::vector<std::string> base_names = {"rope_theta"};  ///< the first one that is stated counts
    double base = 10000;                                   ///< by default
    bool has_longrope = false;      ///< Phi-3, whose early files call it "su" and "yarn"
    bool has_proportional = false;  ///< "proportional": Gemma 4
    bool has_alpha = false;         ///< "dynamic" with a constant alpha stretches the base
    std::optional<double> part;     ///< of each head that is rotated by default; empty: always all of it
    std::vector<std::string> part_names;  ///< beside partial_rotary_factor
    std::string layer_type;     ///< the parameters are those of such layers: "full_attention"; empty: of all
    int64_t max_positions = 0;  ///< that the model is made for
    int64_t head_width = 0;
    std::optional<int64_t> original_context = std::nullopt;  ///< by default
};

/// Reads the base, and the scaling in `rope_scaling` or `rope_parameters`; a scaling that is not supported
/// goes to the findings. `rope_scaling` is of the tables whose base is `rope_theta`.
RopeConfig read_rope(HfSettings& settings, const RopeRules& rules);

}  // namespace tessera::import
