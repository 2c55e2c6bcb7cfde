#include "bench/step_predictor.h"

#include "cost/weighted_sizes.h"
#include "kernels/micro_kernels.h"
#include "plan/copies.h"
#include "planner/verify_plan.h"
#include "support/error.h"

namespace tessera::benchmark {

StepPredictor::StepPredictor(const runtime::Artefact& artefact, const machine::Machine& machine)
    : plan_(plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels())), model_(machine) {
    const Graph graph = parse_graph(artefact.graph(), artefact.where());
    verify(graph, artefact.where());
    graph_ = plan::with_copies(graph, plan_, artefact.where());
    planner::verify_plan(graph_, plan_, artefact.where());
    if (!model_.is_measured())
        throw Error(machine.name, "",
                    "nothing was measured of this machine, so that no time can be predicted",
                    "give the file that `tessera machine --measure` writes");
}

double StepPredictor::seconds(const std::map<std::string, int64_t>& symbols) const {
    const auto runs = cost::specialisation_at(plan_, {.name = "bench", .values = symbols});
    TESSERA_CHECK(runs.has_value(), "no specialisation");
    return cost::total_seconds(
        cost::step_costs(graph_, plan_, plan_.specialisations[*runs], symbols, model_));
}

}  // namespace tessera::benchmark
