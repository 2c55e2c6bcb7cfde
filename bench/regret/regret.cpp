// The loss of the search for layouts against the best ones: `regret_bench MACHINE.toml INCLUDE CACHE
// [FILTER]`. Each operator of a block (whose name has FILTER in it) is compiled with its tensors lying in
// every way that forms.h tries and the planner and the verifier let pass, and as the search has it. All are
// called three times; those within twice the fastest, and the choice, are timed nine times in turns. The best
// of many that were disturbed is one that was lucky: the choice and the fastest other are timed once more, in
// turns of their own, until it is certain whether the choice is good. Every call reads constants that were
// not read for long. One JSON object on stdout.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include <nlohmann/json.hpp>

#include "bench_main.h"
#include "compiler/measure/samples.h"
#include "compiler/planner_options.h"
#include "forms.h"
#include "operators.h"
#include "support/error.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

/// A form that is estimated to take so much longer than the choice is not run.
constexpr double kNotRun = 10;
/// A form that takes so much longer than the fastest is left out of the turns; the seconds are of the samples
/// that decide that.
constexpr double kBrief = 2, kBriefSeconds = 20e-6;
/// So many times more turns of the choice and the fastest other; again until the median of their ratios is
/// known to lie on one side of the limit for good choices, at most as often as that.
constexpr int64_t kDuel = 3, kMostDuels = 8;
constexpr double kGood = 1.05;
/// Half of the 99 % confidence interval of a median, in ranks by the root of their number.
constexpr double kDeviations = 2.58 / 2;

/// The ratios of the times of two forms, turn by turn, ascending.
std::vector<double> sorted_ratios(const std::vector<double>& seconds, const std::vector<double>& others) {
    std::vector<double> ratios(others.size());
    std::ranges::transform(seconds, others, ratios.begin(), std::divides());
    std::ranges::sort(ratios);
    return ratios;
}

class Regret {
public:
    Regret(const Subject& subject, const machine::Machine& machine, const measure::MeasureOptions& options)
        : instance_(subject.instance), machine_(machine), options_(options), threads_(subject.workers) {
        const Graph& graph = instance_.graph;
        const planner::PlannerOptions planning = compiler::planner_options(machine, subject.workers);
        verify(graph, instance_.name);
        add(chosen_form(graph, planning, 0));
        if (!forms_[0].why_refused.empty()) throw Error(instance_.name, "the choice", forms_[0].why_refused);
        for (const TensorLayouts& layouts : layouts_of_a_graph(graph, machine, planning))
            add(forced_form(graph, layouts, planning, forms_.size()));
    }

    Json run() {
        measure();
        Json json = {
            {"name", instance_.name}, {"tried", tried_}, {"refused", refused_}, {"not_run", not_run_}};
        for (size_t i = 0; i < forms_.size(); ++i) {
            Json form = {{"layouts", forms_[i].layouts}};
            if (!turns_[i].empty()) {
                form["kernels"] = forms_[i].kernels;
                form["estimated_seconds"] = forms_[i].estimated_seconds;
                form["turn_seconds"] = turns_[i];
            } else {
                form["call_seconds"] = calls_[i][calls_[i].size() / 2];
            }
            if (i == 0) {
                json["chosen"] = form;
                continue;
            }
            if (i == fastest_other_)
                json["fastest_other"] = {
                    {"layouts", form["layouts"]}, {"chosen_seconds", duel_[0]}, {"other_seconds", duel_[1]}};
            json[turns_[i].empty() ? "slower" : "in_turns"].push_back(form);
        }
        return json;
    }

private:
    /// Keeps the forms to be run, each plan once.
    void add(Form form) {
        ++tried_;
        if (!form.why_refused.empty() && !forms_.empty()) {
            refused_.push_back(form.why_refused);
        } else if (!plans_.insert(form.plan).second) {
            --tried_;
        } else if (!forms_.empty() && form.estimated_seconds > kNotRun * forms_[0].estimated_seconds) {
            ++not_run_;
        } else {
            forms_.push_back(std::move(form));
        }
    }

    void measure() {
        std::vector<measure::LoweredForm> lowered;
        for (const Form& form : forms_) lowered.push_back(form.lowered);
        measure::ProgramCalls calls(instance_.graph, lowered, machine_, options_, threads_);
        const auto sample = [&](size_t i, double seconds) {
            return calls.sample(i, {.symbols = {}, .contents = instance_.contents}, seconds);
        };
        calls_.resize(forms_.size());
        turns_.resize(forms_.size());
        double fastest = 0;
        for (size_t i = 0; i < forms_.size(); ++i) {
            const measure::Sample call = sample(i, kBriefSeconds);
            call();
            for (int n = 0; n < 3; ++n) calls_[i].push_back(call());
            std::sort(calls_[i].begin(), calls_[i].end());
            if (fastest == 0 || calls_[i][1] < fastest) fastest = calls_[i][1];
        }
        std::vector<std::pair<size_t, measure::Sample>> near;
        for (size_t i = 0; i < forms_.size(); ++i)
            if (i == 0 || calls_[i][1] <= kBrief * fastest) near.emplace_back(i, sample(i, options_.seconds));
        for (int64_t turn = 0; turn < options_.samples; ++turn) {
            for (const auto& [i, taken] : near) turns_[i].push_back(taken());
            std::rotate(near.begin(), near.begin() + 1, near.end());
        }
        for (size_t i = 1; i < forms_.size(); ++i)
            if (!turns_[i].empty() && (fastest_other_ == 0 || ratio(i) > ratio(fastest_other_)))
                fastest_other_ = i;
        if (fastest_other_ == 0) return;
        const measure::Sample choice = sample(0, options_.seconds),
                              other = sample(fastest_other_, options_.seconds);
        do {
            for (int64_t turn = 0; turn < kDuel * options_.samples; ++turn) {
                duel_[0].push_back(choice());
                duel_[1].push_back(other());
            }
        } while (!is_decided() && std::ssize(duel_[0]) < kMostDuels * kDuel * options_.samples);
    }

    bool is_decided() const {
        const std::vector<double> ratios = sorted_ratios(duel_[0], duel_[1]);
        const auto middle = static_cast<double>(ratios.size()) / 2;
        const auto apart = std::min(kDeviations * std::sqrt(2 * middle), middle - 1);
        return ratios[static_cast<size_t>(middle - apart)] > kGood ||
               ratios[static_cast<size_t>(middle + apart)] < kGood;
    }

    /// The time of the choice divided by that of this form, the median over the turns.
    double ratio(size_t i) const {
        const std::vector<double> ratios = sorted_ratios(turns_[0], turns_[i]);
        return ratios[ratios.size() / 2];
    }

    const Instance& instance_;
    const machine::Machine& machine_;
    const measure::MeasureOptions& options_;
    measure::PinnedThreads threads_;
    std::vector<Form> forms_;  ///< the choice, then forced ones
    std::set<std::string> plans_;
    int64_t tried_ = 0, not_run_ = 0;
    std::vector<std::string> refused_;         ///< reasons
    std::vector<std::vector<double>> calls_;   ///< seconds of three calls, ascending
    size_t fastest_other_ = 0;                 ///< 0: none is near
    std::array<std::vector<double>, 2> duel_;  ///< seconds of the choice and of that one, turn by turn
    std::vector<std::vector<double>> turns_;  ///< of a call, turn by turn; none if it is far from the fastest
};

Json run(const machine::Machine& machine, const measure::MeasureOptions& options, const std::string& filter) {
    Json json = {{"good", kGood}};
    for (const Subject& subject : operators_of_a_block(machine)) {
        if (subject.instance.name.find(filter) == std::string::npos) continue;
        std::fprintf(stderr, "\r%-60s", subject.instance.name.c_str());
        json["instances"].push_back(Regret(subject, machine, options).run());
    }
    std::fprintf(stderr, "\n");
    return json;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
    return tessera::bench_main(argc, argv, tessera::run);
}
