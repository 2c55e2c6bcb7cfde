#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "lowering/plan/stated_kernels.h"
#include "lowering/refusal.h"
#include "search/schedule/block_context.h"
#include "search/schedule/solve_tiles.h"

namespace tessera::planner {

/// Every stated kernel is of one specialisation of the plan, or of all, and has operators of one block, each
/// in one kernel, whose micro-kernels have the iterators that they name.
/// @throws Error with the kernel's position if one is not
void check_stated(const Graph& graph, const plan::Plan& plan, const std::vector<plan::StatedKernel>& stated);

/// Why a stated nest is refused.
struct StatedRefusal {
    enum class Kind : uint8_t {
        kForm,      ///< it breaks the notation, or has operators that do not belong together
        kTiles,     ///< what one tile needs cannot be computed in its place, or would be computed wrong
        kLowering,  ///< no micro-kernel finds its strides
    };
    Kind kind = Kind::kForm;
    lowering::Refusal why;
};
std::string_view name(StatedRefusal::Kind kind);  ///< "form", "tiles", "lowering"

/// States these kernels in the block, and solves the open tiles and micro-kernels of each by itself. A kernel
/// without an operator in the block is left out. @pre check_stated
std::variant<std::vector<schedule::SolvedKernel>, StatedRefusal> solve_stated(
    std::span<const plan::StatedKernel> stated, const std::string& specialisation,
    schedule::BlockContext& block);

/// Fixes the kernels that are stated for the block: their operators are alone, and have the stated
/// micro-kernels. @pre check_stated
/// @return the kernel's position and the reason for a nest that is illegal, or that others of the block
/// cannot run before and behind
std::optional<lowering::Refusal> fix_stated(const std::vector<plan::StatedKernel>& stated,
                                            const std::string& specialisation, schedule::BlockContext& block);

}  // namespace tessera::planner
