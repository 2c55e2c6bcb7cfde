#include "compiler/bench/step_predictor.h"

#include "cost/weighted_sizes.h"
#include "distribution/collectives.h"
#include "distribution/spmd/cluster.h"
#include "ir/ops/exchange.h"
#include "support/error.h"

namespace tessera::benchmark {
namespace {

const Node& node_of(const Graph& graph, const cost::KernelCost& kernel) {
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (block.name == kernel.block && node.name == kernel.name) return node;
    TESSERA_CHECK(false, "{} has no {}", kernel.block, kernel.name);
}

}  // namespace

double StepPrediction::seconds() const {
    double all = 0;
    for (const PredictedKernel& kernel : kernels)
        all += static_cast<double>(kernel.cost.repeat) * (kernel.cost.seconds + kernel.exchange_seconds);
    return all;
}

StepPredictor::StepPredictor(const runtime::Artefact& artefact, const machine::Machine& machine)
    : plan_(compiler::verified_plan(artefact)),
      model_(machine),
      ranks_(spmd::rank_level(machine, artefact.ranks_of_file())) {
    if (!model_.is_measured())
        throw Error(machine.name, "",
                    "nothing was measured of this machine, so that no time can be predicted",
                    "give the file that `tessera machine --measure` writes");
}

StepPrediction StepPredictor::predict(const std::map<std::string, int64_t>& symbols) const {
    const auto runs = cost::specialisation_at(plan_.plan, {.name = "bench", .values = symbols});
    TESSERA_CHECK(runs.has_value(), "no specialisation");
    StepPrediction predicted{.specialisation = *runs, .kernels = {}};
    for (cost::KernelCost& kernel :
         cost::step_costs(plan_.graph, plan_.plan, plan_.plan.specialisations[*runs], symbols, model_)) {
        const double exchange = exchange_seconds(node_of(plan_.graph, kernel), symbols);
        predicted.kernels.push_back({std::move(kernel), exchange});
    }
    return predicted;
}

/// As boxes are priced that the run time executes (distribution/collectives.h).
double StepPredictor::exchange_seconds(const Node& made,
                                       const std::map<std::string, int64_t>& symbols) const {
    using distribution::Collective;
    const auto call = made.definition() ? ops::exchange_call(*made.definition()) : std::nullopt;
    if (!call) return 0;
    const TensorType& type = plan_.graph[made.results.front()].type;
    double bytes = bits(type.element) / 8.0;
    for (const int64_t extent : evaluate(type.shape, symbols)) bytes *= static_cast<double>(extent);
    // A transposed result holds what each rank has for this one: the whole is that of all ranks.
    const bool is_transposed = call->kind == ops::ExchangeCall::Kind::kTranspose;
    return distribution::collective_time(is_transposed ? Collective::kAllToAll : Collective::kAllGather,
                                         ranks_,
                                         is_transposed ? bytes * static_cast<double>(ranks_.count) : bytes,
                                         distribution::CollectiveModel::kGathered)
        .seconds;
}

}  // namespace tessera::benchmark
