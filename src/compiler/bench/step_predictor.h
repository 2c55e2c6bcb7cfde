#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "compiler/verified_plan.h"
#include "cost/step_cost.h"
#include "distribution/placement.h"
#include "run/runtime/artefact.h"

namespace tessera::benchmark {

struct PredictedKernel {
    cost::KernelCost cost;
    double exchange_seconds = 0;  ///< with the other ranks, behind it
};

struct StepPrediction {
    size_t specialisation = 0;             ///< of the plan
    std::vector<PredictedKernel> kernels;  ///< in the order of execution

    /// The time of the whole step; infinite if that of a kernel is not known.
    double seconds() const;
};

/// Predicts the times of an artefact's steps on a measured machine, from its file alone.
class StepPredictor {
public:
    /// @throws Error if the artefact holds no graph or plan, or illegal ones, or the machine was not
    /// measured.
    StepPredictor(const runtime::Artefact& artefact, const machine::Machine& machine);

    /// @pre some specialisation of the plan runs at these sizes
    StepPrediction predict(const std::map<std::string, int64_t>& symbols) const;

private:
    double exchange_seconds(const Node& made, const std::map<std::string, int64_t>& symbols) const;

    compiler::VerifiedPlan plan_;
    cost::CostModel model_;
    distribution::Level ranks_;
};

}  // namespace tessera::benchmark
