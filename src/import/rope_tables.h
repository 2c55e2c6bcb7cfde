#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::import {

/// Factors of a GGUF file that divide the rotary frequencies, f32[pairs that are rotated]: for Llama 3.1 and
/// later, and for contexts up to that of the training and beyond it.
inline constexpr const char* kRopeFactorsSource = "rope_freqs.weight";
inline constexpr const char* kShortRopeFactorsSource = "rope_factors_short.weight";
inline constexpr const char* kLongRopeFactorsSource = "rope_factors_long.weight";

/// The frequencies of a model's rotary position embedding.
struct RopeConfig {
    enum class Scaling : uint8_t { kNone, kLinear, kLlama3, kYarn, kLongRope, kProportional };

    double base = 10000;
    Scaling scaling = Scaling::kNone;
    double factor = 1;  ///< linear, llama3, yarn: how much longer than in training the context is
    double low_frequency_factor =
        1;  ///< llama3: wavelengths above original_context / this are scaled by `factor`
    double high_frequency_factor = 4;  ///< llama3: wavelengths below original_context / this are not scaled
    int64_t original_context = 8192;   ///< llama3, yarn, longrope: positions of the first training
    double amplitude = 1;              ///< cosines and sines are multiplied by it: attn_factor of a GGUF file
    double fast_rotations = 32;        ///< yarn: frequencies with more of them in training are not scaled
    double slow_rotations = 1;         ///< yarn: those with fewer are scaled by `factor`
    bool is_ramp_truncated = true;     ///< yarn: the ramp between them begins and ends at whole pairs
    int64_t still = 0;                 ///< proportional: pairs at the end that do not turn
    int64_t first = 0;                 ///< the angle of a token is that of so many positions later
    int64_t rotated = 0;               ///< elements at the beginning of a head that are rotated; 0: all
    std::vector<double> short_factors;  ///< longrope: frequencies are divided by these ..
    std::vector<double> long_factors;   ///< .. or by these in a context beyond `original_context`

    bool operator==(const RopeConfig&) const = default;
};

/// The elements of a head that are rotated. An odd number is that of the exponents: one more is rotated.
int64_t rotated_elements(const RopeConfig& config, int64_t head_width);
/// Pairs of elements of a head that are rotated.
int64_t rotated_pairs(const RopeConfig& config, int64_t head_width);

/// Radians for each position, one for each pair that is rotated: base^(-2 i / rotated), scaled. "llama3" is
/// the interpolation by wavelength of Llama 3.1, "yarn" that of Peng et al., "YaRN", 2023, section 3.2, and
/// "longrope" has factors of its own for each pair: Ding et al., "LongRoPE", 2024; "proportional" turns the
/// first pairs of a whole head alone (HuggingFace transformers,
/// modeling_rope_utils.py). `context`: positions of a sequence.
/// @pre factors, if there are any, are one for each pair; yarn has a base above 1
std::vector<double> rope_frequencies(const RopeConfig& config, int64_t head_width, int64_t context);

/// The amplitude by which "yarn" makes up for its scaling: 1 + 0.1 weight ln(factor).
double yarn_amplitude(double factor, double weight = 1);
/// That of "longrope": sqrt(1 + ln(factor) / ln(original context)).
double longrope_amplitude(double factor, int64_t original_context);

/// Row t is that of position first + t. Row-major [positions, frequencies.size()], times the amplitude,
/// computed in float64 and rounded once.
struct RopeTables {
    std::vector<float> cos;
    std::vector<float> sin;
};
RopeTables rope_tables(std::span<const double> frequencies, int64_t positions, double amplitude = 1,
                       int64_t first = 0);

}  // namespace tessera::import
