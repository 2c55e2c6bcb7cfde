#pragma once

#include <cstdint>

#include "import/weights.h"
#include "ir/graph.h"
#include "ir/interpreter.h"

namespace tessera::import {

/// The contents of a constant at a repetition of its block in float64, for the interpreter.
/// @throws Error for a tensor that is missing or not what the graph expects.
TensorData constant_data(const WeightSource& weights, const Value& constant, int64_t repetition);

}  // namespace tessera::import
