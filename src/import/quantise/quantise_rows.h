#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "ir/ops/weight_format.h"

namespace tessera::quantise {

/// The operands of a quantised weight, in the order of its format, each as the bytes of a tensor (elements of
/// less than a byte as ElementType says).
using OperandBytes = std::vector<std::vector<std::byte>>;

/// Writes the elements [first, first + to.size()) of a weight, row-major. Called from several threads.
using ReadElements = std::function<void(size_t first, std::span<float> to)>;

/// Quantises `elements` elements, whole blocks, in `workers` parts at the same time; the result does not
/// depend on how many. Exceptions of `read` are rethrown.
OperandBytes quantise_rows(ops::WeightFormat format, size_t elements, const ReadElements& read, int workers);

}  // namespace tessera::quantise
