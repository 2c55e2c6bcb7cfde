#pragma once

#include "ir/element_type.h"
#include "lowering/kernels/kernel_target.h"

namespace tessera::kernels {

/// How many neighbouring k the machine's units want side by side in a factor of this element type, within its
/// lanes along n: the last lanes of B, `<.., n16, k2>`. 1 if no unit multiplies the type with these lanes.
int64_t k_lanes(const KernelTarget& target, ElementType type);

/// True if the unit multiplies two factors of this type, B with these lanes, and adds to f32.
bool multiplies(const machine::ComputeUnit& unit, const KernelTarget& target, ElementType type);

/// The largest peak of the vector units with factors of this type, widened to f32 or as they are.
double vector_peak(const KernelTarget& target, ElementType type);

/// True if a vector unit adds the products of that many neighbouring k in one operation, with both factors of
/// this type and the sum in f32, and does so faster than f32 multiply-adds, where both were measured.
bool adds_products(const KernelTarget& target, ElementType type);

}  // namespace tessera::kernels
