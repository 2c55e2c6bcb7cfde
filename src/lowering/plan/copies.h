#pragma once

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::plan {

/// The graph with an operator for every copy that the plan wants: in front of the first reader, or behind the
/// operator that makes what is copied.
/// @throws Error naming a copy whose value, reader or operand does not exist.
Graph with_copies(const Graph& graph, const Plan& plan, const std::string& where);

}  // namespace tessera::plan
