#include "quantise/scale_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "support/error.h"

// For given integers q the best scale is a linear least-squares fit. So candidates of a scale are tried
// around the one that just reaches the largest element: each rounds x to integers, and the fit to these has
// an error.
//
//     one scale         min sum w (x - s q)^2         s = sum w x q / sum w q^2
//     with a minimum    min sum w (x - s q + m)^2     two normal equations; m = 0 where they want it negative
//
// The integers of the best fit are then rounded anew with its scale, for as long as that helps: the two steps
// alternate as in Lloyd's algorithm, and neither can make the error larger.
// Source: S. P. Lloyd, "Least squares quantization in PCM", 1982; the candidates, and the minimum that is
// never negative, are those of ggml's k-quants. Dropped: ggml's coordinate descent over single integers.

namespace tessera::quantise {
namespace {

constexpr size_t kMost = 32;  // elements of a group
constexpr int kMostRefinements = 4;

/// A multiple of the lanes of a vector: sums are kept in so many parts, which the compiler keeps in
/// registers.
constexpr size_t kParts = 8;

using Group = std::array<float, kMost>;

/// Nearest integer, ties to even, of |x| below 2^22: the sum with 1.5 x 2^23 has a step of one. (The
/// library's function is a call where the instruction set has no rounding.)
float nearest(float x) {
    constexpr float kShift = 0x1.8p23F;
    return (x + kShift) - kShift;
}

float bounded(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}

/// A group, filled up with elements of no importance.
struct Padded {
    size_t count;
    Group x{};
    Group w{};

    Padded(std::span<const float> values, std::span<const float> importance)
        : count((values.size() + kParts - 1) / kParts * kParts) {
        TESSERA_CHECK(values.size() <= kMost && importance.size() == values.size(), "{} elements",
                      values.size());
        std::copy(values.begin(), values.end(), x.begin());
        std::copy(importance.begin(), importance.end(), w.begin());
    }
};

float total(const std::array<float, kParts>& parts) {
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

/// The sums of a fit to q = bounded(nearest(inverse x + offset)).
struct Sums {
    float q = 0, qq = 0, qx = 0;
};

Sums sums_for(const Padded& group, float inverse, float offset, float low, float high) {
    std::array<float, kParts> q{}, qq{}, qx{};
    for (size_t at = 0; at < group.count; at += kParts) {
        for (size_t i = 0; i < kParts; ++i) {
            const float rounded = bounded(nearest(inverse * group.x[at + i] + offset), low, high);
            const float weighted = group.w[at + i] * rounded;
            q[i] += weighted;
            qq[i] += weighted * rounded;
            qx[i] += weighted * group.x[at + i];
        }
    }
    return {total(q), total(qq), total(qx)};
}

/// The sums of one group that a fit with minimum needs besides Sums.
struct Moments {
    float w = 0, x = 0;
};

/// Scale and minimum of the fit, and by how much it lessens sum w x^2.
struct Fit {
    ScaleAndMinimum at;
    float gain = -INFINITY;
};

Fit fitted(const Sums& sums, const Moments& moments) {
    const auto gain = [&](float scale, float minimum) {
        // sum w x^2 - sum w (x - s q + m)^2
        return 2 * (scale * sums.qx - minimum * moments.x) - scale * scale * sums.qq -
               minimum * minimum * moments.w + 2 * scale * minimum * sums.q;
    };
    const float determinant = moments.w * sums.qq - sums.q * sums.q;
    if (determinant > 0) {
        const float scale = (moments.w * sums.qx - moments.x * sums.q) / determinant;
        const float minimum = (sums.q * sums.qx - moments.x * sums.qq) / determinant;
        if (minimum >= 0) return {{scale, minimum}, gain(scale, minimum)};
    }
    if (!(sums.qq > 0)) return {};
    const float scale = sums.qx / sums.qq;
    return {{scale, 0}, gain(scale, 0)};
}

}  // namespace

float search_scale(std::span<const float> x, std::span<const float> importance, const SearchLevels& levels) {
    const Padded group(x, importance);
    float largest = 0;
    for (const float value : x)
        if (std::fabs(value) > std::fabs(largest)) largest = value;
    if (!(std::fabs(largest) > 1e-15F)) return 0;
    const auto low = static_cast<float>(levels.low), high = static_cast<float>(levels.high);
    // The fit lessens sum w x^2 by (sum w x q)^2 / sum w q^2.
    float best_scale = largest / low, best_gain = -INFINITY;
    const auto consider = [&](float inverse) {
        const Sums sums = sums_for(group, inverse, 0, low, high);
        const float gain = sums.qx * sums.qx / sums.qq;
        if (!(sums.qq > 0) || !(gain > best_gain)) return false;
        best_gain = gain;
        best_scale = sums.qx / sums.qq;
        return true;
    };
    for (int i = -levels.steps; i <= levels.steps; ++i)
        consider((low + static_cast<float>(i) * levels.step) / largest);
    for (int i = 0; i < kMostRefinements && best_scale != 0; ++i)
        if (!consider(1 / best_scale)) break;
    return best_scale;
}

ScaleAndMinimum search_scale_and_minimum(std::span<const float> x, std::span<const float> importance,
                                         const SearchLevels& levels) {
    const Padded group(x, importance);
    const auto [lowest, highest] = std::minmax_element(x.begin(), x.end());
    const float floor = std::min(*lowest, 0.0F);
    const float range = *highest - floor;
    if (!(range > 1e-15F)) return {0, -floor};
    Moments moments;
    for (size_t i = 0; i < x.size(); ++i) {
        moments.w += importance[i];
        moments.x += importance[i] * x[i];
    }
    const auto high = static_cast<float>(levels.high);
    Fit best{{range / high, -floor}, -INFINITY};
    const auto consider = [&](float inverse, float minimum) {
        const Fit fit = fitted(sums_for(group, inverse, minimum * inverse, 0, high), moments);
        if (!(fit.gain > best.gain)) return false;
        best = fit;
        return true;
    };
    for (int i = -levels.steps; i <= levels.steps; ++i)
        consider((high + static_cast<float>(i) * levels.step) / range, -floor);
    for (int i = 0; i < kMostRefinements && best.at.scale > 0; ++i)
        if (!consider(1 / best.at.scale, best.at.minimum)) break;
    return best.at;
}

}  // namespace tessera::quantise
