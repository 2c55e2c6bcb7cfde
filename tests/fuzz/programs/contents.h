#pragma once

#include "fuzz/programs/choices.h"
#include "ir/interpreter.h"

namespace tessera::fuzz {

/// Numbers that the type holds. Some tensors have NaN, infinities, zeros of both signs, denormals and the
/// ends of the range among them.
TensorData draw_contents(Choices& choices, ElementType type, std::vector<int64_t> shape);

/// Whole numbers in [low, high], all different if `is_distinct`.
/// @pre is_distinct: there are as many
TensorData draw_indices(Choices& choices, std::vector<int64_t> shape, int64_t low, int64_t high,
                        bool is_distinct);

}  // namespace tessera::fuzz
