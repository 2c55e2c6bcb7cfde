#pragma once

#include <vector>

#include "ir/graph.h"
#include "lowering/movement/program.h"
#include "lowering/plan/plan.h"

namespace tessera::planner {

/// A plan, and the lowered program of each of its specialisations.
struct LoweredPlan {
    plan::Plan plan;
    std::vector<movement::Program> programs;
};

/// Gives every arena buffer an offset and the specialisations their arena, by liveness of the lowered
/// programs. Offsets that the plan has already are kept if every buffer has one for the size that it needs:
/// where an edit has changed a size, all are chosen anew. In the programs the buffers lie at these offsets,
/// so that nothing is lowered again.
LoweredPlan lowered_and_placed(const Graph& graph, plan::Plan plan);

/// The plan alone.
plan::Plan place_buffers(const Graph& graph, plan::Plan plan);

}  // namespace tessera::planner
