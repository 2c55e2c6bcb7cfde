#pragma once

#include <cstdint>

#include "import/weights.h"
#include "ir/graph.h"
#include "ir/interpreter.h"

namespace tessera {

/// The stored tensor behind a constant at a repetition of its block. @throws Error if the source has none of
/// that name.
const StoredTensor& stored_constant(const WeightSource& weights, const Value& constant, int64_t repetition);

/// Its contents in float64, for the interpreter. @throws Error for a type that has no element type.
TensorData constant_data(const WeightSource& weights, const Value& constant, int64_t repetition);

}  // namespace tessera
