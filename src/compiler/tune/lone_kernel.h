#pragma once

#include <set>
#include <string>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::tune {

/// Some operators of a block alone: a graph in which block `kLoneBlock` has them, and a plan of it without
/// kernels. Blocks before and behind it copy what others make for them and read of them, so that these values
/// lie in the arena in their layouts; nobody needs to run those.
struct LoneKernel {
    Graph graph;
    plan::Plan plan;
};
inline constexpr const char* kLoneBlock = "kernel";

/// @param graph with the copies of the plan
/// @param nodes names of operators of one block, none of them a view
LoneKernel lone_kernel(const Graph& graph, const plan::Plan& plan,
                       const plan::SpecialisationPlan& specialisation, const std::set<std::string>& nodes);

}  // namespace tessera::tune
