#pragma once

#include <set>
#include <vector>

#include "movement/storage.h"
#include "planner/default_planner.h"

namespace tessera {

/// One way of sharing a kernel between the workers.
struct DivisionOption {
    KernelPlan kernel;
    double work = 0;  ///< iterations of the worker that has most
    std::vector<WorkerAccess> accesses;
};

/// Computed by every worker; by worker 0 alone; divided along each iterator of the result, in groups of a few
/// sizes: equal parts of whole registers, and the parts that whole heads of other tensors in the block make.
/// What does not lower is left out. @pre the kernel lowers
std::vector<DivisionOption> division_options(const LoweringInput& input, const Block& block,
                                             const KernelPlan& kernel, const PlannerOptions& options);

}  // namespace tessera
