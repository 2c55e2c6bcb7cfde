#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/ops/weight_format.h"

namespace tessera::quantise {

/// The operands of one block of a weight, in the order of its format: each element as its pattern of bits in
/// a byte (`q` of Q6_K is u6), or as the two bytes of an F16.
struct QuantisedBlock {
    static constexpr size_t kMostOperands = 5;
    static constexpr size_t kMostElements = 256;
    std::array<std::array<uint8_t, kMostElements>, kMostOperands> operands;
};

/// Quantises one block. Each element is as near to x as its group's scale allows; the scales are searched
/// (import/quantise/scale_search.h), with the importance x^2 for a scale alone, and sqrt(mean x^2) + |x| for
/// one with a minimum, as in ggml's reference.
/// @pre the format is quantised, x has the elements of one block and all are finite.
void quantise_block(ops::WeightFormat format, std::span<const float> x, QuantisedBlock& block);

}  // namespace tessera::quantise
