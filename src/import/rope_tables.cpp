#include "import/rope_tables.h"

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

}  // namespace

std::vector<double> rope_frequencies(const RopeConfig& config, int64_t width) {
    std::vector<double> frequencies;
    for (int64_t i = 0; i < width / 2; ++i) {
        const double frequency =
            std::pow(config.base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
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
        }
    }
    return frequencies;
}

RopeTables rope_tables(std::span<const double> frequencies, int64_t positions, double amplitude) {
    RopeTables tables;
    const size_t elements = static_cast<size_t>(positions) * frequencies.size();
    tables.cos.reserve(elements);
    tables.sin.reserve(elements);
    for (int64_t position = 0; position < positions; ++position) {
        for (const double frequency : frequencies) {
            const double angle = static_cast<double>(position) * frequency;
            tables.cos.push_back(static_cast<float>(amplitude * std::cos(angle)));
            tables.sin.push_back(static_cast<float>(amplitude * std::sin(angle)));
        }
    }
    return tables;
}

}  // namespace tessera::import
