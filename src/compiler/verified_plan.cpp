#include "compiler/verified_plan.h"

#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/copies.h"
#include "search/planner/verify_plan.h"

namespace tessera::compiler {

VerifiedPlan verified_plan(const runtime::Artefact& artefact) {
    const Graph graph = parse_graph(artefact.graph(), artefact.where());
    verify(graph, artefact.where());
    VerifiedPlan found{.graph = {},
                       .plan = plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels())};
    found.graph = plan::with_copies(graph, found.plan, artefact.where());
    planner::verify_plan(found.graph, found.plan, artefact.where());
    return found;
}

}  // namespace tessera::compiler
