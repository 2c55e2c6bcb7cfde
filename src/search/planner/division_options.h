#pragma once

#include <set>
#include <vector>

#include "lowering/storage.h"
#include "search/planner/priced.h"

namespace tessera::planner {

struct DividedKernel {
    plan::KernelPlan kernel;
    std::vector<movement::WorkerAccess> accesses;
};

/// One way of sharing a kernel between the workers.
struct DivisionOption {
    std::vector<DividedKernel> kernels;  ///< in place of the one; all workers meet between them
    double seconds = 0;  ///< of the worker that has most, the sum over the points by their weights
};

/// The constant extents of the iterators of a block, at the sizes for which work is priced: those of heads
/// are among them.
std::set<int64_t> known_extents(const lowering::LoweringInput& input, const Block& block);

/// Computed by every worker; by worker 0 alone; divided along each iterator of the result, in groups of a few
/// sizes: equal parts of whole registers, and the parts that whole heads of other tensors in the block make.
/// If none of these gives every worker its part, and the work is worth a barrier, also divided along a
/// reduction, and combined in each of those ways. Ways that do not lower are left out. @pre the kernel lowers
std::vector<DivisionOption> division_options(const lowering::LoweringInput& input, const Block& block,
                                             const plan::KernelPlan& kernel,
                                             const std::set<int64_t>& known_extents,
                                             cost::PricedBlock& priced, const PlannerOptions& options);

}  // namespace tessera::planner
