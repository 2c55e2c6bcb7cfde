#pragma once

#include <cstdint>

/// IEEE 754 binary16, the element type F16, and its pattern of bits.
namespace tessera {

/// Exact.
float half_value(uint16_t pattern);
/// The nearest one, ties to even; beyond the largest, infinity. NaN stays NaN.
uint16_t half_pattern(float value);

}  // namespace tessera
