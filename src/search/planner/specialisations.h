#pragma once

#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::planner {

/// The specialisations of a graph, without kernels, the narrowest first, since the first whose bounds hold is
/// called: `decode` for the symbols that are 1 at all points whose names start so, `batch` for those that are
/// a few (kFewRows) at its points, `prefill` for all bounds.
std::vector<plan::SpecialisationPlan> specialisations(const Graph& graph);

}  // namespace tessera::planner
