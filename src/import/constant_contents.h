#pragma once

#include <cstdint>
#include <string>

#include "import/weights.h"
#include "ir/graph.h"

namespace tessera::import {

/// The bytes of a constant at a repetition of its block. A concatenation is put together: it is in memory
/// while the result lives, and beside it one of its parts at a time. Pages of its parts are released.
/// @throws Error naming `where` and a tensor that is missing or not what the graph expects.
TensorContents constant_contents(const WeightSource& weights, const Value& constant, int64_t repetition,
                                 const std::string& where);

/// The same by rows, any of which can be read at any time.
std::unique_ptr<TensorRows> open_constant(const WeightSource& weights, const Value& constant,
                                          int64_t repetition, const std::string& where);

}  // namespace tessera::import
