#pragma once

#include <optional>

#include "ir/graph.h"

namespace tessera::planner {

/// In a graph nothing is ever overwritten. In a program states and carried values are, in their place, and
/// outputs lie where the caller says. Copies resolve what cannot be both:
///
///     output S2, where S2 is the new contents of S       S2 = copy of what lies in S
///     a state whose new contents no update makes         they are written over the old ones
///     S is read behind the operator that updates it      that operator moves back, or reads a copy made
///     before an update of what others see, as an input          it updates a copy a block carries an input,
///     or what others read      it carries a copy a block carries out what is not made in place      it is
///     written over what was carried in a carried value is an output                       it is copied
///     behind the block
///
/// @return nothing if all is well as it stands
/// @pre verified, without composites
std::optional<Graph> with_own_storage(const Graph& graph);

}  // namespace tessera::planner
