#pragma once

#include <cstdint>
#include <optional>

#include "compiler/search_parts.h"
#include "machine/machine.h"
#include "search/planner/default_planner.h"

namespace tessera::compiler {

/// The properties of the machine that the default planner reads. `workers`: by default the machine's cores.
planner::PlannerOptions planner_options(const machine::Machine& machine, std::optional<int64_t> workers);

/// The start of planning for a graph. The options know the bytes of its constants.
struct PlanningStart {
    planner::PlannerOptions options;
    plan::Plan initial;
};

/// @param effort of the search for kernels, a multiple of the default
/// @param parts of that search
/// @pre the graph is decomposed and verified
PlanningStart planning_start(const Graph& graph, const machine::Machine& machine,
                             std::optional<int64_t> workers, int64_t effort, const SearchParts& parts = {});

}  // namespace tessera::compiler
