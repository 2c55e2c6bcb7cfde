#pragma once

#include <optional>

#include "ir/graph.h"
#include "lowering/kernels/contraction.h"
#include "lowering/plan/plan.h"
#include "search/planner/default_planner.h"

namespace tessera::planner {

/// Chooses the stored form of the constants and states that a node multiplies, where the plan has none yet:
/// weights lie in groups of lanes along n; a state that is a factor has the axes that neither product index
/// first, then k, then n, so that lanes lie side by side. A state that is copied by its pages is laid out
/// alike. What a recurrence carries lies by groups of its lanes, and its constants with these innermost.
void choose_stored_layout(const Graph& graph, const Node& node, const PlannerOptions& options,
                          plan::Plan& plan);

/// How the constant that gives a product its rows may lie instead: each row's values of k side by side. Empty
/// if they do in row-major order, or the factor is no constant.
std::optional<Layout> layout_of_rows(const Graph& graph, const Node& node, const kernels::Contraction& roles);

}  // namespace tessera::planner
