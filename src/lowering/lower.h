#pragma once

#include "lowering/storage.h"
#include "movement/program.h"
#include "plan/constants.h"
#include "plan/plan.h"

namespace tessera::lowering {

/// Makes every loop, address and micro-kernel call of a kernel explicit. Reads decisions from the plan alone.
/// @pre the graph is decomposed. Arena buffers that are not placed yet have position 0.
/// @throws Error naming the operator where the plan is illegal: a producer that cannot be computed by tiles,
/// lanes that lie irregularly, a micro-kernel that does not implement its operator.
movement::Kernel lower_kernel(const LoweringInput& input, const Block& block, const plan::KernelPlan& kernel);

/// All kernels of one specialisation.
movement::Program lower(const Graph& graph, const plan::Plan& plan,
                        const plan::SpecialisationPlan& specialisation,
                        const plan::ConstantSection& constants);

}  // namespace tessera::lowering
