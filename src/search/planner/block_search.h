#pragma once

#include <optional>
#include <set>
#include <vector>

#include "search/planner/default_planner.h"
#include "search/planner/grouping.h"
#include "search/planner/stated_price.h"
#include "search/schedule/known_kernels.h"
#include "search/schedule/search.h"

namespace tessera::planner {

/// A kernel that the search of a block found.
struct FoundKernel {
    Group group;
    plan::Nest nest;
    bool is_stated = false;
};

struct BlockSchedule {
    std::vector<FoundKernel> kernels;  ///< in the order of execution
    Alternatives alternatives;
    schedule::Schedule schedule;
    std::optional<lowering::Refusal> refusal = {};  ///< of a stated kernel: the rest is not searched then

    std::vector<Group> groups() const {
        std::vector<Group> groups;
        for (const FoundKernel& kernel : kernels) groups.push_back(kernel.group);
        return groups;
    }
};

/// Searches the kernels of a block: what they fuse, their loops, tiles and leaves (search/schedule/search.h).
/// @param alone operators that stay kernels of their own
/// @param known kernels of the same specialisation that were solved; those that the search solves are added
/// @pre places of the block's values are chosen for kernels of one operator each
BlockSchedule search_block(const lowering::LoweringInput& input, const BlockView& view,
                           const std::set<const Node*>& alone, const PlannerOptions& options,
                           schedule::KnownKernels& known);

/// Prices kernels of the block, each as if it alone was stated: no verdict depends on another one.
/// @param kernels with operators of this block, as check_stated wants them
/// @pre as above, without stated kernels in the options
std::vector<std::variant<StatedPrice, StatedRefusal>> price_in_block(
    const lowering::LoweringInput& input, const BlockView& view, std::span<const plan::StatedKernel> kernels,
    const PlannerOptions& options);

}  // namespace tessera::planner
