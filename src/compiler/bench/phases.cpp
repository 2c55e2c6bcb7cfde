#include "compiler/bench/phases.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::benchmark {
namespace {

using Times = std::vector<std::vector<runtime::KernelTime>>;

double median_of(const std::vector<Times>& runs, size_t specialisation, size_t kernel,
                 double runtime::KernelTime::*seconds) {
    std::vector<double> all;
    for (const Times& times : runs) all.push_back(times[specialisation][kernel].*seconds);
    return quartiles(std::move(all)).median;
}

/// The names of kernels, in the order of execution, and of what they belong to.
std::vector<BenchPhase> named(const compiler::VerifiedPlan& plan, size_t specialisation) {
    std::vector<BenchPhase> phases;
    const plan::SpecialisationPlan& of = plan.plan.specialisations[specialisation];
    for (const plan::KernelPlan* kernel : plan::kernels_in_order(plan.graph, of))
        phases.push_back(
            {.specialisation = of.name, .block = kernel->block, .kernel = kernel->nest.root().node});
    return phases;
}

/// The least of all processes.
void meet_processes(runtime::Communicator& processes, std::vector<BenchPhase>& phases) {
    const auto count = static_cast<size_t>(processes.ranks());
    std::vector<BenchPhase*> exchanges;
    for (BenchPhase& phase : phases)
        if (phase.exchange_seconds > 0) exchanges.push_back(&phase);
    std::vector<double> all(count * exchanges.size());
    double* const own = all.data() + static_cast<size_t>(processes.rank()) * exchanges.size();
    for (size_t i = 0; i < exchanges.size(); ++i) own[i] = exchanges[i]->exchange_seconds;
    processes.gather(reinterpret_cast<unsigned char*>(all.data()),
                     static_cast<int64_t>(exchanges.size() * sizeof(double)));
    for (size_t i = 0; i < exchanges.size(); ++i)
        for (size_t r = 0; r < count; ++r)
            exchanges[i]->exchange_seconds =
                std::min(exchanges[i]->exchange_seconds, all[r * exchanges.size() + i]);
}

}  // namespace

std::vector<BenchPhase> time_phases(TimedModel& model, BenchCase::Kind kind, int64_t tokens, int64_t repeat,
                                    const StepPredictor* predictor) {
    std::vector<Times> runs;
    for (int64_t r = 0; r < repeat; ++r) runs.push_back(model.kernel_times(kind, tokens));
    const compiler::VerifiedPlan& plan = model.plan();
    std::vector<std::vector<BenchPhase>> phases(runs.front().size());
    for (size_t s = 0; s < phases.size(); ++s) {
        const std::vector<runtime::KernelTime>& first = runs.front()[s];
        if (first.empty()) continue;  // did not run
        phases[s] = named(plan, s);
        TESSERA_CHECK(phases[s].size() == first.size(), "{} kernels, {} planned", first.size(),
                      phases[s].size());
        for (size_t k = 0; k < first.size(); ++k) {
            BenchPhase& phase = phases[s][k];
            phase.runs = first[k].runs;
            phase.barriers = first[k].barriers;
            phase.seconds = median_of(runs, s, k, &runtime::KernelTime::seconds);
            phase.barrier_seconds = median_of(runs, s, k, &runtime::KernelTime::barrier_seconds);
            phase.exchange_seconds = median_of(runs, s, k, &runtime::KernelTime::exchange_seconds);
        }
    }
    if (predictor)
        for (const StepPrediction& step : model.predictions(kind, tokens, *predictor))
            for (size_t k = 0; k < step.kernels.size(); ++k) {
                const PredictedKernel& kernel = step.kernels[k];
                const auto times = static_cast<double>(kernel.cost.repeat);
                BenchPhase& phase = phases.at(step.specialisation).at(k);
                phase.predicted_seconds += times * (kernel.cost.seconds - kernel.cost.barrier_seconds);
                phase.predicted_barrier_seconds += times * kernel.cost.barrier_seconds;
                phase.predicted_exchange_seconds += times * kernel.exchange_seconds;
            }
    std::vector<BenchPhase> all;
    for (std::vector<BenchPhase>& of : phases) all.insert(all.end(), of.begin(), of.end());
    if (runtime::Communicator* processes = model.artefact().processes()) meet_processes(*processes, all);
    return all;
}

}  // namespace tessera::benchmark
