#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ir/graph.h"
#include "ir/interpreter.h"

namespace tessera::programs {

/// Contents of an input, or of a constant at a repetition of its block.
using IndexContents = std::function<TensorData(const Value& value, int64_t repetition)>;

/// Checks that every element that index operands choose exists: the code does not. Iterations that `where`
/// leaves out may choose anything.
/// @throws Error naming `where`, the node, the tensor and the iteration that is outside.
/// @pre the graph passes compiler::expect_program; the values are those of its symbols
void check_indices(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                   const IndexContents& contents, const std::string& where);

}  // namespace tessera::programs
