#pragma once

#include <vector>

#include "lowering/storage.h"
#include "search/planner/default_planner.h"

namespace tessera::planner {

/// A kernel in two: one in which the workers divide a reduction, and one that combines their parts, with
/// everything behind the fold. The second is not divided yet.
struct DividedFold {
    plan::KernelPlan fold;
    plan::KernelPlan combine;
};

/// One way for each fold in the kernel that can have parts. Kernels that do not lower are left out.
/// @pre the kernel lowers
std::vector<DividedFold> divided_folds(const lowering::LoweringInput& input, const Block& block,
                                       const plan::KernelPlan& kernel, const PlannerOptions& options);

}  // namespace tessera::planner
