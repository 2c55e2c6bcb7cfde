#pragma once

#include "layouts/choose_layouts.h"

namespace tessera::layouts {

/// The search that compiling does: by the micro-kernels that there are, what the default planner would store
/// offered too, so that nothing it chooses costs more by the same costs.
/// @pre options.costs; the graph is decomposed and verified
SearchOptions compiling_options(const Graph& graph, const plan::Plan& initial,
                                const planner::PlannerOptions& options);

/// The search on a machine that need not exist: by its units alone.
/// @throws Error if the description lacks the rates of a memory level or of a unit
SearchOptions describing_options(const Graph& graph, const plan::Plan& initial,
                                 const machine::Machine& machine);

}  // namespace tessera::layouts
