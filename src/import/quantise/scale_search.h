#pragma once

#include <cstdint>
#include <span>

/// Scales of small groups of weights, chosen by weighted least squares. The weight of an element's error is
/// its importance: without activations to ask, an element of a larger magnitude counts more.
namespace tessera::quantise {

/// Integers low .. high, and how finely scales around the one that just reaches the largest element are
/// tried: `steps` on each side, `step` apart in units of an integer.
struct SearchLevels {
    int low;
    int high;
    int steps;
    float step;
};

/// x[i] is about scale q[i]. The sign of the scale puts the largest |x| on `low`, the larger side.
/// `importance` has one entry for each element. Zero for a group of zeros.
float search_scale(std::span<const float> x, std::span<const float> importance, const SearchLevels& levels);

/// x[i] is about scale q[i] - minimum, with minimum >= 0 and q from 0 to levels.high.
struct ScaleAndMinimum {
    float scale = 0;
    float minimum = 0;
};
ScaleAndMinimum search_scale_and_minimum(std::span<const float> x, std::span<const float> importance,
                                         const SearchLevels& levels);

}  // namespace tessera::quantise
