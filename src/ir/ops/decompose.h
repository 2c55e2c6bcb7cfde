#pragma once

#include "ir/graph.h"

namespace tessera::ops {

/// Replaces every composite by the structured operators of its decomposition, in place and in order. Values
/// keep their ids; new ones are appended. Idempotent.
/// @throws Error naming a composite that is unknown, or an operand or attribute that is wrong.
Graph decompose(const Graph& graph);

}  // namespace tessera::ops
