#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "lowering/plan/stated_kernels.h"

/// Loads of kernels that people state: copies of operands in tiles of a nest.
namespace tessera::planner {

/// The kernels with their operators alone, for passes that have no copies yet.
std::vector<plan::StatedKernel> without_loads(std::span<const plan::StatedWithLoads> stated);
/// The kernels with the operators that copy.
std::vector<plan::StatedKernel> with_copies(std::span<const plan::StatedWithLoads> stated);

/// The plan with a copy for every load, which the operators behind the load in its braces read. Copies that
/// they read otherwise are dropped.
/// @throws Error if a value is not in the graph, or nothing behind the load reads it
plan::Plan with_loads(const Graph& graph, plan::Plan plan, std::span<const plan::StatedWithLoads> stated);

}  // namespace tessera::planner
