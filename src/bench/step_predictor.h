#pragma once

#include "cost/step_cost.h"
#include "ir/graph.h"
#include "plan/plan.h"
#include "runtime/artefact.h"

namespace tessera::benchmark {

/// How long steps of an artefact take on a measured machine, by its file and nothing else.
class StepPredictor {
public:
    /// @throws Error if the artefact holds no graph or plan, or illegal ones, or nothing was measured of the
    /// machine.
    StepPredictor(const runtime::Artefact& artefact, const machine::Machine& machine);

    /// The time of one step at these sizes; infinite where the time of a kernel is not known.
    /// @pre some specialisation of the plan runs at them
    double seconds(const std::map<std::string, int64_t>& symbols) const;

private:
    plan::Plan plan_;
    Graph graph_;  ///< with the plan's copies
    cost::CostModel model_;
};

}  // namespace tessera::benchmark
