// The exact search and the neighbourhoods take turns, in slices that double: where the bound closes soon no
// neighbourhood is searched, and where it never will, each has had a fair share whatever the budget was.
#include "extraction/extract.h"

#include <algorithm>
#include <cmath>

#include "extraction/formula.h"
#include "extraction/neighbourhood.h"
#include "extraction/seeds.h"
#include "extraction/simplify.h"
#include "support/error.h"

namespace tessera::extraction {
namespace {

constexpr int64_t kFirstSlice = 4000;  // conflicts

std::optional<Budget::Clock::time_point> deadline_in(std::optional<double> seconds) {
    if (!seconds) return std::nullopt;
    return Budget::Clock::now() +
           std::chrono::duration_cast<Budget::Clock::duration>(std::chrono::duration<double>(*seconds));
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
        Instance small = instance_;
        SimplifyOptions inferences;
        if (!options_.simplify) inferences = {.inline_free = false, .needed = false};
        if (!extraction::simplify(small, best_.cost, inferences)) {
            TESSERA_CHECK(!best_.exists(), "simplification has lost a solution");
            return {.status = Status::kInfeasible};
        }
        return search(small);
    }

private:
    void seed(const std::optional<Choice>& choice) {
        if (!choice) return;
        if (auto found = evaluate(instance_, *choice)) offer(settle(instance_, std::move(*found)));
    }
    void offer(Incumbent found) {
        if (found.cost < best_.cost) best_ = std::move(found);
    }

    Result search(const Instance& small) {
        Sat sat;
        Formula formula(small, sat);
        MaxSat exact(sat, formula.softs(), formula.base(), [&]() -> std::optional<Weight> {
            const auto found = formula.read_model();
            if (!found) return std::nullopt;
            auto whole = restore(instance_, small, found->choice);
            TESSERA_CHECK(whole, "a choice is lost with what simplification took out");
            offer(std::move(*whole));
            return best_.cost;
        });
        exact_ = &exact;
        Neighbourhood neighbourhood(without_dropped_nodes(small), options_.seed);
        MaxSat::End end = MaxSat::End::kOutOfBudget;
        for (int64_t slice = kFirstSlice; end == MaxSat::End::kOutOfBudget; slice *= 2) {
            exact.lower_upper(best_.cost);
            Budget turn(budget_, slice);
            end = exact.run(turn);
            if (budget_.is_exhausted()) break;
            if (end != MaxSat::End::kOutOfBudget || !options_.neighbourhoods || !best_.exists()) continue;
            Budget other_turn(budget_, slice);
            neighbourhood.improve(best_, other_turn);
        }
        exact.lower_upper(best_.cost);
        exact_ = nullptr;
        if (end == MaxSat::End::kInfeasible) return finished({.status = Status::kInfeasible});
        return report(end == MaxSat::End::kOptimal || exact.lower() >= best_.cost, exact.lower());
    }

    /// The whole instance, so that its choices are choices of the problem, with the nodes that simplification
    /// left and those of the incumbent.
    Instance without_dropped_nodes(const Instance& small) const {
        Instance result = instance_;
        for (size_t e_class = 0; e_class < result.classes(); ++e_class)
            std::erase_if(result.members[e_class], [&](int node) {
                const std::vector<int>& left = small.members[e_class];
                return !left.empty() && !std::binary_search(left.begin(), left.end(), node) &&
                       (!best_.exists() || best_.choice[e_class] != node);
            });
        return result;
    }

    Result report(bool is_optimal, Weight lower) {
        Result result;
        const auto classes = static_cast<double>(problem_.classes);
        result.rounding = classes * costs_.rounding;
        if (best_.exists()) {
            const Incumbent settled = settle(instance_, best_);
            result.choice = settled.choice;
            result.cost = cost_of(problem_, result.choice);
            result.status = is_optimal ? Status::kOptimal : Status::kFeasible;
        }
        // The bound is a multiple of the unit; as a double it may lie a rounding above the same cost.
        const double bound = static_cast<double>(lower) * costs_.unit;
        result.bound = is_optimal ? result.cost : best_.exists() ? std::min(bound, result.cost) : bound;
        return finished(std::move(result));
    }

    Result finished(Result result) {
        result.conflicts = budget_.spent();
        result.was_stopped = budget_.was_stopped();
        return result;
    }

    bool is_cancelled() {
        if (!options_.on_progress) return false;
        Progress now{.conflicts = budget_.spent()};
        if (best_.exists()) now.cost = static_cast<double>(best_.cost) * costs_.unit;
        if (exact_) now.bound = static_cast<double>(exact_->lower()) * costs_.unit;
        return options_.on_progress(now);
    }

    const Problem& problem_;
    const Options& options_;
    ScaledCosts costs_;
    Instance instance_;
    Budget budget_;
    Incumbent best_;
    const MaxSat* exact_ = nullptr;
};

}  // namespace

std::string_view name(Status status) {
    switch (status) {
        case Status::kOptimal:
            return "optimal";
        case Status::kFeasible:
            return "feasible";
        case Status::kInfeasible:
            return "infeasible";
        case Status::kOutOfBudget:
            return "out of budget";
    }
    TESSERA_CHECK(false);
}

double Result::gap() const {
    if (status == Status::kOptimal || cost == bound) return 0;
    return (cost - bound) / std::fabs(cost);
}

Result extract(const Problem& problem, const Options& options) {
    return Extraction(problem, options).run();
}

}  // namespace tessera::extraction
