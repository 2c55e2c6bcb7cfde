// The exact search and the neighbourhoods take turns, in slices that double: if the bound closes soon, no
// neighbourhood is searched; if it never does, both have a fair share, whatever the budget.
#include "search/extraction/extract.h"

#include <algorithm>
#include <cmath>

#include "search/extraction/exact_search.h"
#include "search/extraction/neighbourhood.h"
#include "search/extraction/seeds.h"
#include "support/error.h"

namespace tessera::extraction {
namespace {

constexpr int64_t kFirstSlice = 4000;  // conflicts
constexpr double kLongest = 1e9;       // seconds; many more do not fit the clock

std::optional<Budget::Clock::time_point> deadline_in(std::optional<double> seconds) {
    if (!seconds) return std::nullopt;
    return Budget::Clock::now() + std::chrono::duration_cast<Budget::Clock::duration>(
                                      std::chrono::duration<double>(std::min(*seconds, kLongest)));
}

class Extraction {
public:
    Extraction(const Problem& problem, const Options& options)
        : problem_(problem),
          options_(options),
          costs_(scale(problem.nodes)),
          instance_(make_instance(problem, costs_)),
          budget_(options.conflicts, deadline_in(options.seconds), [this] { return is_cancelled(); }) {}

    Result run() {
        seed(bottom_up(instance_));
        seed(greedy_dag(instance_));
        SimplifyOptions inferences;
        if (!options_.simplify) inferences = {.inline_free = false, .needed = false};
        ExactSearch exact(instance_, std::move(best_), inferences);
        exact_ = &exact;
        const MaxSat::End end = take_turns(exact);
        if (end == MaxSat::End::kInfeasible) return finished({.status = Status::kInfeasible});
        return report(end == MaxSat::End::kOptimal || exact.lower() >= exact.best().cost);
    }

private:
    void seed(const std::optional<Choice>& choice) {
        if (!choice) return;
        auto found = evaluate(instance_, *choice);
        if (!found) return;  // it has a cycle, or two nodes of a group
        *found = settle(instance_, std::move(*found));
        if (found->cost < best_.cost) best_ = std::move(*found);
    }

    MaxSat::End take_turns(ExactSearch& exact) {
        std::optional<Neighbourhood> neighbourhood;
        for (int64_t slice = kFirstSlice;; slice *= 2) {
            Budget turn(budget_, slice);
            const MaxSat::End end = exact.run(turn);
            if (end != MaxSat::End::kOutOfBudget || budget_.is_exhausted()) return end;
            if (!options_.neighbourhoods || !exact.best().exists()) continue;
            if (!neighbourhood) neighbourhood.emplace(without_dropped_nodes(exact), options_.seed);
            Budget other_turn(budget_, slice);
            Incumbent incumbent = exact.best();
            neighbourhood->improve(incumbent, other_turn);
            exact.offer(incumbent);
        }
    }

    /// The whole instance, so that its choices are choices of the problem, without the nodes that
    /// simplification has dropped. A class that it has emptied or inlined is whole.
    Instance without_dropped_nodes(const ExactSearch& exact) const {
        Instance result = instance_;
        for (size_t e_class = 0; e_class < result.classes(); ++e_class)
            if (const std::vector<int>& left = exact.simplified().members[e_class]; !left.empty())
                result.members[e_class] = left;
        return result;
    }

    Result report(bool is_optimal) {
        Result result;
        const auto classes = static_cast<double>(problem_.classes);
        result.rounding = classes * costs_.rounding;
        const bool has_choice = exact_->best().exists();
        if (has_choice) {
            result.choice = settle(instance_, exact_->best()).choice;
            result.cost = cost_of(problem_, result.choice);
            result.status = is_optimal ? Status::kOptimal : Status::kFeasible;
        }
        // The bound is a multiple of the unit; as a double it may lie a rounding above the same cost.
        const double bound = static_cast<double>(exact_->lower()) * costs_.unit;
        result.bound = is_optimal ? result.cost : has_choice ? std::min(bound, result.cost) : bound;
        return finished(std::move(result));
    }

    Result finished(Result result) {
        result.conflicts = budget_.spent();
        result.was_stopped = budget_.was_stopped();
        return result;
    }

    bool is_cancelled() {
        if (!options_.on_progress) return false;
        Progress now{.conflicts = budget_.spent(), .cost = {}, .bound = {}};
        const Incumbent& best = exact_ ? exact_->best() : best_;
        if (best.exists()) now.cost = static_cast<double>(best.cost) * costs_.unit;
        if (exact_) now.bound = static_cast<double>(exact_->lower()) * costs_.unit;
        return options_.on_progress(now);
    }

    const Problem& problem_;
    const Options& options_;
    ScaledCosts costs_;
    Instance instance_;
    Budget budget_;
    Incumbent best_;  ///< before the exact search, which then keeps it
    const ExactSearch* exact_ = nullptr;
};

}  // namespace

double Result::gap() const {
    if (status == Status::kOptimal || cost == bound) return 0;
    return (cost - bound) / std::fabs(cost);
}

Result extract(const Problem& problem, const Options& options) {
    return Extraction(problem, options).run();
}

}  // namespace tessera::extraction
