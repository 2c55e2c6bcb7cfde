#pragma once

#include "run/runtime/artefact.h"
#include "search/layouts/choose_layouts.h"
#include "search/planner/default_planner.h"

namespace tessera::compiler {

/// The search for layouts that compiling does with this effort: a multiple of the default's limits. The
/// arguments must outlive the result. @pre effort > 0
layouts::SearchOptions layout_search_options(const Graph& graph, const plan::Plan& initial,
                                             const planner::PlannerOptions& planner, int64_t effort);

struct LayoutSearch {
    Graph graph;
    plan::Plan initial;           ///< the plan from which the search started
    extraction::Options options;  ///< of its extraction
    layouts::Search search;
    bool is_measured;  ///< the machine; else times are of roofs (cost/typical_rates.h)
};

/// Searches again for the layouts of an artefact's graph, for as many workers as its plan has: with the
/// machine and effort that it was compiled for the same search. @throws Error if the machine
/// was measured, but not the times of loops, and for an artefact that was compiled without this search.
LayoutSearch repeat_layout_search(const runtime::Artefact& artefact, const machine::Machine& machine,
                                  int64_t effort);

}  // namespace tessera::compiler
