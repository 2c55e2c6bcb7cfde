#pragma once

#include <cstdint>
#include <string>

namespace tessera::nests {

/// A small `.nest` file that keeps the rules of form: up to four operators with windows, paddings, divided,
/// reversed and indirect axes, sums, maxima and softmax_sum; tiles that divide nothing, loads, units and
/// visible results. The same seed, the same text.
std::string random_nest_text(uint64_t seed);

/// The same operators and loops as a `.tier` file: up to three levels behind memory, shared or per unit, and
/// as many loads, stores and keeps as find a place. It keeps the rules of form, but for units that differ.
std::string random_tier_text(uint64_t seed);

/// A small `.space` file: two products or attention, with or without a batch and operators in between.
std::string random_space_text(uint64_t seed);

}  // namespace tessera::nests
