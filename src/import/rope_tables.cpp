#include "import/rope_tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::import {
namespace {

double llama3_scaled(const RopeConfig& config, double frequency) {
    const double wavelength = 2 * std::numbers::pi / frequency;
    const double context = static_cast<double>(config.original_context);
    if (wavelength < context / config.high_frequency_factor) return frequency;
    if (wavelength > context / config.low_frequency_factor) return frequency / config.factor;
    const double smooth = (context / wavelength - config.low_frequency_factor) /
                          (config.high_frequency_factor - config.low_frequency_factor);
    return (1 - smooth) * frequency / config.factor + smooth * frequency;
}

/// The pair that turns so often in the original context.
double yarn_pair(const RopeConfig& config, int64_t width, double rotations) {
    const double context = static_cast<double>(config.original_context);
    return static_cast<double>(width) * std::log(context / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(config.base));
}

double yarn_scaled(const RopeConfig& config, int64_t width, int64_t pair, double frequency) {
    double low = yarn_pair(config, width, config.fast_rotations);
    double high = yarn_pair(config, width, config.slow_rotations);
    if (config.is_ramp_truncated) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(width - 1));
    if (low == high) high += 0.001;
    const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
    return frequency / config.factor * ramp + frequency * (1 - ramp);
}

}  // namespace

int64_t rotated_elements(const RopeConfig& config, int64_t head_width) {
    return config.rotated == 0 ? head_width : config.rotated;
}

int64_t rotated_pairs(const RopeConfig& config, int64_t head_width) {
    return (rotated_elements(config, head_width) + 1) / 2;
}

std::vector<double> rope_frequencies(const RopeConfig& config, int64_t head_width, int64_t context) {
    const int64_t width = rotated_elements(config, head_width);
    std::vector<double> frequencies;
    for (int64_t i = 0; i < rotated_pairs(config, head_width); ++i) {
        const double frequency =
            std::pow(config.base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        const auto& factors = context > config.original_context ? config.long_factors : config.short_factors;
        switch (config.scaling) {
            case RopeConfig::Scaling::kNone:
                frequencies.push_back(frequency);
                break;
            case RopeConfig::Scaling::kLinear:
                frequencies.push_back(frequency / config.factor);
                break;
            case RopeConfig::Scaling::kLlama3:
                frequencies.push_back(llama3_scaled(config, frequency));
                break;
            case RopeConfig::Scaling::kYarn:
                frequencies.push_back(yarn_scaled(config, width, i, frequency));
                break;
            case RopeConfig::Scaling::kProportional:
                frequencies.push_back(
                    i < rotated_pairs(config, head_width) - config.still ? frequency / config.factor : 0);
                break;
            case RopeConfig::Scaling::kLongRope:
                frequencies.push_back(factors.empty() ? frequency
                                                      : frequency / factors.at(static_cast<size_t>(i)));
                break;
        }
    }
    return frequencies;
}

double yarn_amplitude(double factor, double weight) {
    return factor <= 1 ? 1 : 1 + 0.1 * weight * std::log(factor);
}

double longrope_amplitude(double factor, int64_t original_context) {
    if (factor <= 1 || original_context < 2) return 1;
    return std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(original_context)));
}

RopeTables rope_tables(std::span<const double> frequencies, int64_t positions, double amplitude,
                       int64_t first) {
    RopeTables tables;
    const size_t elements = static_cast<size_t>(positions) * frequencies.size();
    tables.cos.reserve(elements);
    tables.sin.reserve(elements);
    for (int64_t position = 0; position < positions; ++position) {
        for (const double frequency : frequencies) {
            const double angle = static_cast<double>(first + position) * frequency;
            tables.cos.push_back(static_cast<float>(amplitude * std::cos(angle)));
            tables.sin.push_back(static_cast<float>(amplitude * std::sin(angle)));
        }
    }
    return tables;
}

}  // namespace tessera::import
