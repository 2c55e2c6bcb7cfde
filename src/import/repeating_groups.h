#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::import {

/// Layers first, first + 1, .. first + period * repeats - 1: a sequence of `period` kinds, `repeats` times.
struct LayerGroup {
    int64_t first = 0;
    int64_t period = 1;
    int64_t repeats = 1;
    bool operator==(const LayerGroup&) const = default;
};

/// Divides a sequence of layers into groups, so that the fewest layers are to be compiled (the sum of the
/// periods) and among these in the fewest groups; a draw goes to the longest groups first. `kinds` are equal
/// where layers have one structure:
///
///     A A A B A B A B   ->  (A)x2 (A B)x3
std::vector<LayerGroup> repeating_groups(std::span<const int> kinds);

}  // namespace tessera::import
