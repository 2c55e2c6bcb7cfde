#pragma once

#include "ir/graph.h"
#include "plan/plan.h"

namespace tessera::planner {

/// Gives every arena buffer an offset and the specialisations their arena, by liveness of the lowered
/// program. Offsets that the plan has already are kept if every buffer has one for the size that it needs:
/// where an edit has changed a size, all are chosen anew.
plan::Plan place_buffers(const Graph& graph, plan::Plan plan);

}  // namespace tessera::planner
