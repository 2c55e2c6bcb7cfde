#pragma once

#include <optional>
#include <variant>

#include "lowering/movement/program.h"
#include "lowering/plan/constants.h"
#include "lowering/plan/plan.h"
#include "lowering/refusal.h"
#include "lowering/storage.h"

namespace tessera::lowering {

using LoweredKernel = std::variant<movement::Kernel, Refusal>;

/// Makes every loop, address and micro-kernel call of a kernel explicit. Reads decisions from the plan alone.
/// The refusal names the operator where the plan is illegal: a producer that cannot be computed by tiles,
/// lanes that lie irregularly, a micro-kernel that does not implement its operator.
/// @pre the graph is decomposed. Arena buffers that are not placed yet have position 0.
LoweredKernel lowered_kernel(const LoweringInput& input, const Block& block, const plan::KernelPlan& kernel);

/// The refusal of a kernel that a search may take; nothing if the kernel is lowered. Beside the rules of
/// `why_illegal`, each micro-kernel has to find the strides that it needs.
std::optional<Refusal> why_no_strides(const LoweringInput& input, const Block& block,
                                      const plan::KernelPlan& kernel);

/// The kernel of a plan that is decided. @throws Error with the refusal
movement::Kernel lower_kernel(const LoweringInput& input, const Block& block, const plan::KernelPlan& kernel);

/// All kernels of one specialisation.
movement::Program lower(const Graph& graph, const plan::Plan& plan,
                        const plan::SpecialisationPlan& specialisation,
                        const plan::ConstantSection& constants);

}  // namespace tessera::lowering
