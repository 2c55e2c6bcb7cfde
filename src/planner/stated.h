#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"
#include "plan/stated_kernels.h"
#include "schedule/block_context.h"

namespace tessera::planner {

/// Every stated kernel is of one specialisation of the plan, or of all, and has operators of one block, each
/// in one kernel, whose micro-kernels have the iterators that they name.
/// @throws Error with the kernel's position if one is not
void check_stated(const Graph& graph, const plan::Plan& plan, const std::vector<plan::StatedKernel>& stated);

/// Fixes the kernels that are stated for the block: their operators are alone, and have the stated
/// micro-kernels. @pre check_stated
/// @return the kernel's position and the reason for a nest that is illegal, or that others of the block
/// cannot run before and behind
std::optional<lowering::Refusal> fix_stated(const std::vector<plan::StatedKernel>& stated,
                                            const std::string& specialisation, schedule::BlockContext& block);

}  // namespace tessera::planner
