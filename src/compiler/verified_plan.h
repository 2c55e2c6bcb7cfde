#pragma once

#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "run/runtime/artefact.h"

namespace tessera::compiler {

/// The plan of an artefact, and the graph that it is for: with the plan's copies.
struct VerifiedPlan {
    Graph graph;
    plan::Plan plan;
};

/// @throws Error if the artefact's graph or plan is none, or the plan is not legal for the graph
VerifiedPlan verified_plan(const runtime::Artefact& artefact);

}  // namespace tessera::compiler
