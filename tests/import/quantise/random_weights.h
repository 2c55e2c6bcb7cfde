#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace tessera::testing {

/// Normally distributed, mean 0 and deviation 1, by Box and Muller: equal in every standard library.
inline std::vector<float> normal_weights(size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto unit = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
    std::vector<float> values;
    while (values.size() < count) {
        const double radius = std::sqrt(-2 * std::log(unit())), angle = 2 * std::numbers::pi * unit();
        values.push_back(static_cast<float>(radius * std::cos(angle)));
        values.push_back(static_cast<float>(radius * std::sin(angle)));
    }
    values.resize(count);
    return values;
}

}  // namespace tessera::testing
