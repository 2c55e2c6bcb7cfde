#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::import {

/// The frequencies of a model's rotary position embedding.
struct RopeConfig {
    enum class Scaling : uint8_t { kNone, kLinear, kLlama3 };

    double base = 10000;
    Scaling scaling = Scaling::kNone;
    double factor = 1;  ///< linear, llama3: how much longer than in training the context is
    double low_frequency_factor =
        1;  ///< llama3: wavelengths above original_context / this are scaled by `factor`
    double high_frequency_factor = 4;  ///< llama3: wavelengths below original_context / this are not scaled
    int64_t original_context = 8192;   ///< llama3: positions of the first training
    double amplitude = 1;              ///< cosines and sines are multiplied by it: attn_factor of a GGUF file

    bool operator==(const RopeConfig&) const = default;
};

/// Radians for each position, one for each of the width / 2 pairs: base^(-2 i / width), scaled. "llama3" is
/// the interpolation by wavelength of Llama 3.1 (HuggingFace transformers, modeling_rope_utils.py).
std::vector<double> rope_frequencies(const RopeConfig& config, int64_t width);

/// Row-major [positions, frequencies.size()], times the amplitude, computed in float64 and rounded once.
struct RopeTables {
    std::vector<float> cos;
    std::vector<float> sin;
};
RopeTables rope_tables(std::span<const double> frequencies, int64_t positions, double amplitude = 1);

}  // namespace tessera::import
