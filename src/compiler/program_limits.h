#pragma once

#include <string>

#include "ir/graph.h"

namespace tessera::compiler {

/// Checks that a graph that somebody wrote can be a program: called with arrays, each of which has a file.
/// @pre the graph is verified
/// @throws Error naming the value that NumPy has no type for, that has a layout of its own, or by which
/// elements are found though the graph itself computes it; an output that no operator makes; an exchange of
/// ranks.
void expect_program(const Graph& graph, const std::string& where);

/// True if a component of a map may leave the axis of a tensor, whatever index operands hold.
bool may_leave(const BoundExtents& extents, size_t tensor, size_t axis, const ExprPtr& component,
               const std::string& where);

}  // namespace tessera::compiler
