#include "compiler/layout_search.h"

#include "compiler/planner_options.h"
#include "lowering/kernels/micro_kernels.h"
#include "search/layouts/lay_out.h"
#include "support/error.h"

namespace tessera::compiler {

layouts::SearchOptions layout_search_options(const Graph& graph, const plan::Plan& initial,
                                             const planner::PlannerOptions& planner, int64_t effort) {
    layouts::SearchOptions search = layouts::compiling_options(graph, initial, planner);
    search.saturation.nodes *= effort;
    search.extraction.conflicts *= effort;
    return search;
}

LayoutSearch repeat_layout_search(const runtime::Artefact& artefact, const machine::Machine& machine,
                                  int64_t effort) {
    LayoutSearch again{.graph = parse_graph(artefact.graph(), artefact.where()),
                       .initial = {},
                       .options = {},
                       .search = {},
                       .is_measured = false};
    verify(again.graph, artefact.where());
    const plan::Plan plan = plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels());
    const SearchParts parts = search_parts(artefact);
    if (!parts.layouts)
        throw Error(artefact.where(), "layouts", "were not searched: it was compiled without them",
                    "compile the model without `--without layouts`");
    PlanningStart start = planning_start(again.graph, machine, plan.workers, effort, parts);
    again.is_measured = start.options.costs->is_measured();
    again.initial = std::move(start.initial);
    const layouts::SearchOptions options =
        layout_search_options(again.graph, again.initial, start.options, effort);
    again.options = options.extraction;
    again.search = layouts::search_layouts(again.graph, again.initial, options);
    return again;
}

}  // namespace tessera::compiler
