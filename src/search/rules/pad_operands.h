#pragma once

#include <optional>

#include "ir/graph.h"

namespace tessera::rules {

/// Folds that read outside of an operand, as padded convolutions and pooling do, read a copy of it with a
/// border instead: an element outside of a tensor is the identity of the fold, and so is the border. Reads of
/// such folds then have strides everywhere, which micro-kernels need. A copy that is larger than the fold has
/// iterations is not made.
/// Empty if nothing reads outside. Idempotent; equal margins of one value share a copy.
std::optional<Graph> with_padded_operands(const Graph& graph);

}  // namespace tessera::rules
