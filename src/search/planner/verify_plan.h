#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "search/planner/place_buffers.h"

namespace tessera::planner {

/// Refuses an illegal plan with the reason: names that do not fit the graph, a kernel that computes something
/// twice, too early or not at all, a micro-kernel that does not implement its operator, storage that is taken
/// over while it is still read, overlapping buffers, and whatever lowering refuses. Checks placement
/// independently of the planner. `where` names the plan in errors. @pre buffers are placed.
/// @return the lowered program of each specialisation
std::vector<movement::Program> verify_plan(const Graph& graph, const plan::Plan& plan,
                                           const std::string& where);

/// The same checks of a plan that is lowered already. @pre the programs are those of the plan
void verify_lowered(const Graph& graph, const LoweredPlan& lowered, const std::string& where);

}  // namespace tessera::planner
