#pragma once

#include "search/layouts/choose_layouts.h"

namespace tessera::layouts {

/// The search during compilation: by the existing micro-kernels. The layouts that the default planner would
/// store are offered too, so that the choice never costs more than the default by the same costs.
/// @pre the graph is decomposed and verified
SearchOptions compiling_options(const Graph& graph, const plan::Plan& initial,
                                const planner::PlannerOptions& options);

/// The search for a machine that need not exist: by its units alone.
/// @throws Error if the description lacks the rates of a memory level or of a unit
SearchOptions describing_options(const Graph& graph, const plan::Plan& initial,
                                 const planner::PlannerOptions& options, const machine::Machine& machine);

}  // namespace tessera::layouts
