#include "compiler/kernel_search.h"

#include "compiler/layout_search.h"
#include "compiler/planner_options.h"
#include "ir/graph_text.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/copies.h"
#include "search/layouts/choose_layouts.h"
#include "search/planner/default_planner.h"

namespace tessera::compiler {

KernelSearch repeat_kernel_search(const runtime::Artefact& artefact, const machine::Machine& machine,
                                  int64_t effort) {
    const Graph graph = parse_graph(artefact.graph(), artefact.where());
    verify(graph, artefact.where());
    const plan::Plan before = plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels());
    const SearchParts parts = search_parts(artefact);
    auto [planner, plan] = planning_start(graph, machine, before.workers, effort, parts);
    planner.known = std::make_shared<std::map<std::string, schedule::KnownKernels>>();
    if (parts.layouts)
        plan = layouts::decision_of(
            graph, plan,
            layouts::search_layouts(graph, plan, layout_search_options(graph, plan, planner, effort)));

    KernelSearch again{
        .blocks = {}, .is_measured = planner.costs->is_measured(), .found_plan = false, .parts = parts};
    planner.on_schedule = [&](const std::string& specialisation, const std::string& block,
                              const schedule::Schedule& schedule) {
        again.blocks.push_back({specialisation, block, schedule});
    };
    const Graph with_copies = plan::with_copies(graph, plan, artefact.where());
    planner::LoweredPlan found = planner::expected(planner::completed_plan(with_copies, plan, planner));
    found.plan.machine = before.machine;
    again.found_plan = plan::print(found.plan) == plan::print(before);
    return again;
}

}  // namespace tessera::compiler
