#pragma once

#include <string>
#include <vector>

#include "cost/step_cost.h"
#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "machine/machine.h"
#include "run/runtime/artefact.h"
#include "run/runtime/manifest.h"

namespace tessera::compiler {

/// The predicted time of a step at one of the points that its graph names.
struct PredictedStep {
    std::string point;
    size_t specialisation;  ///< of the plan: the first whose bounds hold, which the run time calls
    std::vector<cost::KernelCost> kernels;  ///< of it
};

/// The sizes of a point. For a language model, with contents that decide how much attention reads: each of
/// its sequences has as many new tokens as the others, behind as many cached ones as make up the cache extent
/// S, none where the new ones alone do. If there is no such step, and in other graphs, indices are left
/// open.
cost::SizePoint size_point(const runtime::Manifest& manifest, const Point& point);

/// The plan of an artefact, and predictions (cost/step_cost.h) for every point of its graph at which a
/// specialisation runs, in the graph's order. @throws Error as verified_plan does
struct ArtefactCosts {
    plan::Plan plan;
    std::vector<PredictedStep> steps;
};
ArtefactCosts artefact_costs(const runtime::Artefact& artefact, const machine::Machine& machine);

}  // namespace tessera::compiler
