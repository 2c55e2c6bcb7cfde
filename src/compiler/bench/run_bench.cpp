#include "compiler/bench/run_bench.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/bench/host_probe.h"
#include "compiler/bench/phases.h"
#include "compiler/bench/step_predictor.h"
#include "compiler/bench/timed_model.h"
#include "machine/machine_text.h"
#include "support/error.h"

namespace tessera::benchmark {
namespace {

void check(const BenchSettings& settings) {
    const auto at_least = [](const char* what, int64_t value, int64_t least) {
        if (value < least)
            throw Error("bench", what, fmt::format("is {}, expected {} or more", value, least));
    };
    at_least("repeat", settings.repeat, 1);
    at_least("prefill", settings.prefill, 0);
    at_least("decode", settings.decode, 0);
    at_least("chunk", settings.chunk, 0);
    for (const int64_t depth : settings.depths) at_least("depth", depth, 0);
    if (settings.depths.empty() || settings.prefill + settings.decode == 0)
        throw Error("bench", "", "has nothing to time", "give it depths, and tokens of prefill or decode");
}

/// Models, the machine beside them, and the results so far.
class Bench {
public:
    Bench(std::span<const std::shared_ptr<const runtime::Artefact>> artefacts,
          const std::set<std::string>& features, const BenchSettings& settings)
        : settings_(settings), depths_(settings.depths) {
        std::sort(depths_.begin(), depths_.end());
        depths_.erase(std::unique(depths_.begin(), depths_.end()), depths_.end());
        const llm::SessionOptions options{
            .context = depths_.back() + std::max(settings.prefill, settings.decode), .chunk = settings.chunk};
        if (settings.limits) {
            std::set<int64_t> counts;
            for (const auto& artefact : artefacts) counts.insert(artefact->manifest().workers);
            for (const int64_t workers : counts) probes_.push_back(std::make_unique<HostProbe>(workers));
        }
        if (!settings.machine.empty()) {
            const machine::Machine machine = machine::read_machine(settings.machine);
            for (const auto& artefact : artefacts)
                predictors_.push_back(std::make_unique<StepPredictor>(*artefact, machine));
        }
        for (const auto& artefact : artefacts)
            models_.push_back(std::make_unique<TimedModel>(artefact, features, options));
        const size_t kinds = (settings.prefill > 0 ? 1 : 0) + (settings.decode > 0 ? 1 : 0);
        // A filled depth and a first run that does not count are told as a repetition, and so are all phases.
        all_ = static_cast<int64_t>(depths_.size() * models_.size() * kinds) *
               (settings.repeat + (settings.phases ? 2 : 1));
    }

    std::vector<BenchCase> run() && {
        for (const int64_t depth : depths_) {
            const size_t first = cases_.size();
            prepare(depth);
            for (int64_t repetition = 0; repetition < settings_.repeat; ++repetition)
                for (size_t i = first; i < cases_.size(); ++i) {
                    if (stops()) return std::move(cases_);
                    time(cases_[i]);
                }
            for (size_t i = first; settings_.phases && i < cases_.size() && !stops(); ++i)
                cases_[i].phases = phases(cases_[i]);
        }
        return std::move(cases_);
    }

private:
    HostProbe* probe_of(int64_t workers) const {
        for (const auto& probe : probes_)
            if (probe->workers() == workers) return probe.get();
        return nullptr;
    }
    bool stops() const { return settings_.should_stop && settings_.should_stop(); }
    void progress() {
        if (settings_.on_progress) settings_.on_progress(done_++, all_);
    }

    /// Fills the caches, lists the cases to be timed at this depth, and runs all of them once: weights are
    /// then in memory, and pages of the cache where they will stay.
    void prepare(int64_t depth) {
        for (size_t m = 0; m < models_.size(); ++m) {
            models_[m]->fill_to(depth);
            for (const auto kind : {BenchCase::Kind::kPrefill, BenchCase::Kind::kDecode}) {
                const int64_t tokens =
                    kind == BenchCase::Kind::kPrefill ? settings_.prefill : settings_.decode;
                if (tokens == 0) continue;
                if (stops()) return;
                progress();
                (void)models_[m]->time(kind, tokens);
                cases_.push_back({.model = m,
                                  .kind = kind,
                                  .tokens = tokens,
                                  .depth = depth,
                                  .work = models_[m]->work(kind, tokens)});
                if (!predictors_.empty())
                    for (const StepPrediction& step : models_[m]->predictions(kind, tokens, *predictors_[m]))
                        cases_.back().predicted_seconds += step.seconds();
            }
        }
    }

    void time(BenchCase& one) {
        progress();
        TimedModel& model = *models_[one.model];
        if (settings_.limits) one.limits.push_back(probe_of(model.threads())->measure());
        one.seconds.push_back(model.time(one.kind, one.tokens));
    }

    std::vector<BenchPhase> phases(const BenchCase& one) {
        progress();
        const StepPredictor* predictor = predictors_.empty() ? nullptr : predictors_[one.model].get();
        return time_phases(*models_[one.model], one.kind, one.tokens, settings_.repeat, predictor);
    }

    const BenchSettings& settings_;
    std::vector<int64_t> depths_;                             ///< ascending
    std::vector<std::unique_ptr<HostProbe>> probes_;          ///< one for each number of workers
    std::vector<std::unique_ptr<StepPredictor>> predictors_;  ///< of each model, or none
    std::vector<std::unique_ptr<TimedModel>> models_;
    std::vector<BenchCase> cases_;
    int64_t done_ = 0;
    int64_t all_ = 0;
};

}  // namespace

std::vector<BenchCase> run_bench(std::span<const std::shared_ptr<const runtime::Artefact>> artefacts,
                                 const std::set<std::string>& features, const BenchSettings& settings) {
    check(settings);
    return Bench(artefacts, features, settings).run();
}

}  // namespace tessera::benchmark
