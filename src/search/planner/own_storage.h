#pragma once

#include <optional>

#include "ir/graph.h"

namespace tessera::planner {

/// In a graph nothing is ever overwritten. In a program states and carried values are, in their place, and
/// outputs lie where the caller says. Copies resolve what cannot be both:
///
/// - an output that is the new contents of a state becomes a copy of what lies in the state;
/// - new contents of a state that no update makes are written over the old ones;
/// - an operator that reads a state behind its update moves in front of it, or reads a copy made before;
/// - an update of what others see, as an input or what others read, updates a copy;
/// - a block that carries in an input, or what others read, carries in a copy;
/// - what a block carries out and does not make in place is written over what it carried in;
/// - a carried value that is an output is copied behind the block.
///
/// @return nothing if all is well as it stands
/// @pre verified, without composites
std::optional<Graph> with_own_storage(const Graph& graph);

}  // namespace tessera::planner
