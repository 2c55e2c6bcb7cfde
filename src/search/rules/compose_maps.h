#pragma once

#include <optional>

#include "ir/graph.h"

namespace tessera::rules {

/// Element by element operators that one other such operator reads are computed where that reads them: the
/// value between them, F32, does not exist. So are those of which it reads some elements alone, as the rows
/// of a table that is dequantised. No element is computed twice. Empty if there are none. Idempotent. It is
/// for graphs that have a node for each step of arithmetic, as those of ONNX do; what remains keeps its name.
std::optional<Graph> with_composed_maps(const Graph& graph);

}  // namespace tessera::rules
