#include "import/quantise/scale_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

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

/// Sums are kept in so many parts, element i in part i mod 8, which are added as a tree.
constexpr size_t kParts = 8;

/// Every instruction set has vectors of this size. In a lane lies a candidate, or a part of its sums: either
/// way the same numbers are added in the same order.
using Lanes __attribute__((vector_size(16))) = float;
constexpr size_t kLanes = 4;

using Group = std::array<float, kMost>;

[[gnu::always_inline]] inline Lanes all_lanes(float x) {
    return Lanes{x, x, x, x};
}

[[gnu::always_inline]] inline Lanes loaded(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

/// Nearest integer, ties to even, of |x| below 2^22: the sum with 1.5 x 2^23 has a step of one. (The
/// library's function is a call where the instruction set has no rounding.)
[[gnu::always_inline]] inline Lanes nearest(Lanes x) {
    constexpr float kShift = 0x1.8p23F;
    return (x + kShift) - kShift;
}

[[gnu::always_inline]] inline Lanes bounded(Lanes x, Lanes low, Lanes high) {
    const Lanes raised = x < low ? low : x;
    return raised > high ? high : raised;
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

/// The sums of a fit to q = bounded(nearest(inverse x + offset)), of a candidate or of one in every lane.
template <typename Number>
struct Sums {
    Number q, qq, qx;

    friend Sums operator+(const Sums& a, const Sums& b) { return {a.q + b.q, a.qq + b.qq, a.qx + b.qx}; }
};

/// How a candidate rounds: one in every lane.
struct Rounding {
    Lanes inverse, offset, low, high;
};

[[gnu::always_inline]] inline void add(Sums<Lanes>& sums, const Rounding& candidates, Lanes x, Lanes w) {
    const Lanes rounded =
        bounded(nearest(candidates.inverse * x + candidates.offset), candidates.low, candidates.high);
    const Lanes weighted = w * rounded;
    sums.q += weighted;
    sums.qq += weighted * rounded;
    sums.qx += weighted * x;
}

/// Evaluates several candidates at a time.
Sums<Lanes> sums_of_all(const Padded& group, const Rounding& candidates) {
    const auto part = [&](size_t i) {
        Sums<Lanes> sums{};
        for (size_t at = i; at < group.count; at += kParts)
            add(sums, candidates, all_lanes(group.x[at]), all_lanes(group.w[at]));
        return sums;
    };
    const auto pair = [&](size_t i) { return part(i) + part(i + kParts / 2); };
    return (pair(0) + pair(2)) + (pair(1) + pair(3));
}

/// Evaluates one candidate, the same in all lanes.
Sums<float> sums_of_one(const Padded& group, const Rounding& candidate) {
    Sums<Lanes> low{}, high{};
    for (size_t at = 0; at < group.count; at += kParts) {
        add(low, candidate, loaded(&group.x[at]), loaded(&group.w[at]));
        add(high, candidate, loaded(&group.x[at + kLanes]), loaded(&group.w[at + kLanes]));
    }
    const Sums<Lanes> pairs = low + high;
    const auto total = [](Lanes p) { return (p[0] + p[2]) + (p[1] + p[3]); };
    return {total(pairs.q), total(pairs.qq), total(pairs.qx)};
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

/// The fits of several candidates.
struct Fits {
    Lanes scale, minimum, gain;

    Fit operator[](size_t i) const { return {{scale[i], minimum[i]}, gain[i]}; }
};

/// Without a minimum: the fit lessens sum w x^2 by (sum w x q)^2 / sum w q^2.
Fits fitted(const Sums<Lanes>& sums) {
    const Lanes gain = sums.qx * sums.qx / sums.qq;
    return {sums.qx / sums.qq, Lanes{}, sums.qq > 0.0F ? gain : all_lanes(-INFINITY)};
}

Fits fitted(const Sums<Lanes>& sums, const Moments& moments) {
    const Lanes determinant = moments.w * sums.qq - sums.q * sums.q;
    const Lanes free_scale = (moments.w * sums.qx - moments.x * sums.q) / determinant;
    const Lanes free_minimum = (sums.q * sums.qx - moments.x * sums.qq) / determinant;
    const auto is_free = (determinant > 0.0F) & (free_minimum >= 0.0F);
    const Lanes scale = is_free ? free_scale : sums.qx / sums.qq;
    const Lanes minimum = is_free ? free_minimum : Lanes{};
    // sum w x^2 - sum w (x - s q + m)^2
    const Lanes gain = 2.0F * (scale * sums.qx - minimum * moments.x) - scale * scale * sums.qq -
                       minimum * minimum * moments.w + 2.0F * scale * minimum * sums.q;
    return {scale, minimum, (is_free | (sums.qq > 0.0F)) ? gain : all_lanes(-INFINITY)};
}

Sums<Lanes> in_all_lanes(const Sums<float>& sums) {
    return {all_lanes(sums.q), all_lanes(sums.qq), all_lanes(sums.qx)};
}

/// Tries the candidates (base + i step) / range, i from -steps to steps; `fit_to` gives the fits of inverses.
template <typename FitTo>
void try_around(float base, float range, const SearchLevels& levels, const FitTo& fit_to, Fit& best) {
    for (int first = -levels.steps; first <= levels.steps; first += static_cast<int>(kLanes)) {
        Lanes step{};
        for (size_t i = 0; i < kLanes; ++i) step[i] = static_cast<float>(first + static_cast<int>(i));
        const Fits fits = fit_to((base + step * levels.step) / range);
        for (size_t i = 0; i < kLanes && first + static_cast<int>(i) <= levels.steps; ++i)
            if (fits.gain[i] > best.gain) best = fits[i];
    }
}

}  // namespace

float search_scale(std::span<const float> x, std::span<const float> importance, const SearchLevels& levels) {
    const Padded group(x, importance);
    float largest = 0;
    for (const float value : x)
        if (std::fabs(value) > std::fabs(largest)) largest = value;
    if (!(std::fabs(largest) > 1e-15F)) return 0;
    const auto reach = static_cast<float>(levels.low);
    const Lanes low = all_lanes(reach), high = all_lanes(static_cast<float>(levels.high));
    Fit best{{largest / reach, 0}, -INFINITY};
    try_around(
        reach, largest, levels,
        [&](Lanes inverse) {
            return fitted(sums_of_all(group, {inverse, Lanes{}, low, high}));
        },
        best);
    for (int i = 0; i < kMostRefinements && best.at.scale != 0; ++i) {
        const Rounding again{all_lanes(1 / best.at.scale), Lanes{}, low, high};
        const Fit fit = fitted(in_all_lanes(sums_of_one(group, again)))[0];
        if (!(fit.gain > best.gain)) break;
        best = fit;
    }
    return best.at.scale;
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
    const auto reach = static_cast<float>(levels.high);
    const Lanes low{}, high = all_lanes(reach);
    Fit best{{range / reach, -floor}, -INFINITY};
    try_around(
        reach, range, levels,
        [&](Lanes inverse) {
            return fitted(sums_of_all(group, {inverse, -floor * inverse, low, high}), moments);
        },
        best);
    for (int i = 0; i < kMostRefinements && best.at.scale > 0; ++i) {
        const float inverse = 1 / best.at.scale;
        const Rounding again{all_lanes(inverse), all_lanes(best.at.minimum * inverse), low, high};
        const Fit fit = fitted(in_all_lanes(sums_of_one(group, again)), moments)[0];
        if (!(fit.gain > best.gain)) break;
        best = fit;
    }
    return best.at;
}

}  // namespace tessera::quantise
