#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "import/findings.h"

namespace tessera::import {

/// The settings of a diffusion transformer whose norms are modulated by time and class (adaLN-Zero), each
/// within its range. Source: Peebles and Xie, "Scalable Diffusion Models with Transformers", 2023.
struct DiffusionConfig {
    int64_t layers = 0;
    int64_t heads = 0;
    int64_t head_width = 0;
    int64_t patch = 0;         ///< side of a patch, in latent pixels
    int64_t side = 0;          ///< of the latent image; a multiple of `patch`
    int64_t in_channels = 0;   ///< of the latent image
    int64_t out_channels = 0;  ///< noise, and variance where it is learned
    int64_t classes = 0;       ///< and one more for "no class"
    double epsilon = 1e-6;
    std::string stated_type;  ///< of the weights: "float16"

    int64_t hidden() const { return heads * head_width; }
    int64_t patches_of_side() const { return side / patch; }
    int64_t patches() const { return patches_of_side() * patches_of_side(); }
};

/// True if a JSON file is a configuration of diffusers: it names its class in `_class_name`.
bool is_diffusion_config(const std::filesystem::path& file);

/// Reads the config.json of a `DiTTransformer2DModel`, or of a `Transformer2DModel` with the same norms.
/// Settings that change the computation go to the findings.
/// @throws Error naming a field that is missing, of another type or out of its range.
DiffusionConfig read_diffusion_config(const std::filesystem::path& file, Findings& findings);

}  // namespace tessera::import
