#pragma once

#include "lowering/storage.h"
#include "search/planner/default_planner.h"

namespace tessera::planner {

/// Shares the kernels of a specialisation between the plan's workers and puts barriers where they must meet:
/// writes into `out`, which `input` reads, `@worker` loops, `alone`, `barrier` and `arena of each worker`.
/// No barrier is needless. @pre every kernel lowers
void divide_work(const lowering::LoweringInput& input, plan::SpecialisationPlan& out,
                 const PlannerOptions& options);

}  // namespace tessera::planner
