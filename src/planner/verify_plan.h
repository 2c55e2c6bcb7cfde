#pragma once

#include <string>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tessera::planner {

/// Refuses an illegal plan with the reason: names that do not fit the graph, a kernel that computes something
/// twice, too early or not at all, a micro-kernel that does not implement its operator, storage that is taken
/// over while it is still read, overlapping buffers, and whatever lowering refuses. Checks placement
/// independently of the planner. `where` names the plan in errors. @pre buffers are placed.
void verify_plan(const Graph& graph, const plan::Plan& plan, const std::string& where);

}  // namespace tessera::planner
