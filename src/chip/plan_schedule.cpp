#include "chip/plan_schedule.h"

#include <algorithm>
#include <cmath>

#include "chip/ahead_bound.h"
#include "chip/anneal_schedule.h"
#include "chip/elk_schedule.h"
#include "chip/exact_schedule.h"
#include "chip/repeat_plan.h"
#include "chip/timeline.h"
#include "chip/together_bound.h"
#include "support/error.h"

namespace tessera::chip {
namespace {

/// Relative: totals and bounds that agree to this are equal, as the format says.
constexpr double kSameTotal = 1e-9;
constexpr size_t kMostExactPositions = 12;
/// Parts of the work.
constexpr double kRowsPart = 0.05, kFewPart = 0.35;
/// Work for which one order of preloads is tried by the induction.
constexpr int64_t kWorkOfOrder = 20'000;

class Planner {
public:
    Planner(const ScheduleProblem& problem, const PlanOptions& options)
        : problem_(problem), options_(options) {}

    PlanResult run() {
        if (const auto position = infeasible_position(problem_)) {
            result_.status = SolverStatus::kInfeasible;
            result_.infeasible_position = position;
            return result_;
        }
        result_.bounds = resource_bounds(problem_);
        result_.bound = result_.bounds.largest();
        if (options_.small_gap <= 0) add_slow_bounds();

        Choice choice = by_descent(fast_rows());
        offer(EarliestTimeline(problem_, choice).schedule());
        add_induction();
        if (!is_proved() && problem_.size() <= kMostExactPositions) prove();
        if (!is_proved() && left() > 0) {
            choice = by_few_copies(std::move(choice));
            // Small changes remain where layers were planned already.
            const bool is_planned = has_many_copies();
            choice = anneal(problem_, choice, left(), is_planned ? 0.02 : 0.1);
            offer(EarliestTimeline(problem_, choice).schedule());
        }
        if (options_.small_gap > 0 && result_.gap() > options_.small_gap) add_slow_bounds();
        if (is_proved()) {
            result_.status = SolverStatus::kOptimal;
            result_.bound = result_.total;
        }
        return std::move(result_);
    }

private:
    void add_slow_bounds() {
        size_t rows = 0;
        for (const size_t o : problem_.sequence) rows += problem_.operators[o].rows.size();
        AheadBoundOptions options;
        options.most_states = std::clamp<size_t>(options_.bound_work / rows, 50, options.most_states);
        result_.bounds.ahead = ahead_bound(problem_, options);
        result_.bounds.together = together_bound(problem_).cycles;
        result_.bound = std::max({result_.bound, result_.bounds.ahead, result_.bounds.together});
    }

    int64_t left() const { return result_.was_stopped ? 0 : options_.work - result_.work; }
    bool is_proved() const { return is_at_bound(result_.total, result_.bound); }
    bool has_many_copies() const {
        return std::any_of(problem_.repeats.begin(), problem_.repeats.end(),
                           [](const Repeat& repeat) { return repeat.count > kFewCopies; });
    }

    void offer(const Schedule& schedule) {
        if (!schedule_fault(problem_, schedule).empty()) return;
        const double total = run_schedule(problem_, schedule).total;
        if (!result_.schedule.rows.empty() && total >= result_.total) return;
        result_.schedule = schedule;
        result_.total = total;
    }

    /// For each operator the row that is fast and whose preload is small.
    Choice fast_rows() const {
        std::vector<int32_t> fastest;
        for (const Operator& each : problem_.operators) {
            size_t best = each.rows.size();
            const auto cost = [&](size_t k) { return each.rows[k].execute() + each.rows[k].link_in / 5; };
            for (size_t k = 0; k < each.rows.size(); ++k)
                if (problem_.is_usable(each.rows[k]) && (best == each.rows.size() || cost(k) < cost(best)))
                    best = k;
            fastest.push_back(static_cast<int32_t>(best));
        }
        Choice choice;
        for (const size_t o : problem_.sequence) choice.row.push_back(fastest[o]);
        choice.queue = carriers(problem_);
        choice.lead.assign(problem_.size(), Choice::kAnyLead);
        return choice;
    }

    /// One row for each distinct operator, by coordinate descent.
    Choice by_descent(Choice start) {
        EarliestTimeline timeline(problem_, std::move(start));
        const int64_t most =
            std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(options_.work) * kRowsPart));
        std::vector<std::vector<EarliestTimeline::RowChange>> positions(problem_.operators.size());
        for (size_t i = 0; i < problem_.size(); ++i)
            positions[problem_.sequence[i]].push_back({static_cast<int32_t>(i), 0});
        bool is_better = true;
        while (is_better && timeline.work() < most && !stops()) {
            is_better = false;
            for (size_t o = 0; o < positions.size() && timeline.work() < most; ++o) {
                if (positions[o].empty()) continue;
                const auto& rows = problem_.operators[o].rows;
                for (size_t k = 0; k < rows.size(); ++k) {
                    if (!problem_.is_usable(rows[k])) continue;
                    for (auto& change : positions[o]) change.row = static_cast<int32_t>(k);
                    const double before = timeline.total();
                    if (timeline.attempt({positions[o], {}, {}}) < before * (1 - 1e-12)) {
                        timeline.keep();
                        is_better = true;
                    } else {
                        timeline.undo();
                    }
                }
            }
        }
        result_.work += timeline.work();
        return timeline.choice();
    }

    void add_induction() {
        if (left() <= 0 || stops()) return;
        ElkOptions options{.orders = {}, .must_stop = [&] { return stops(); }};
        options.orders.most_orders =
            std::clamp<size_t>(static_cast<size_t>(left() / kWorkOfOrder), 1, options.orders.most_orders);
        const auto found = elk_schedule(problem_, options);
        if (!found) return;
        result_.work += static_cast<int64_t>(found->work);
        result_.induction_total = found->total;
        offer(found->schedule);
    }

    void prove() {
        // A good schedule first: it cuts most of the search.
        const Choice start = by_descent(fast_rows());
        const auto quick = std::min<int64_t>(left(), 20'000 * static_cast<int64_t>(problem_.size()));
        offer(EarliestTimeline(problem_, anneal(problem_, start, quick, 0.1)).schedule());
        if (is_proved() || left() <= 0) return;
        const ExactResult exact = exact_schedule(problem_, result_.schedule, {.nodes = (left() + 1) / 2});
        result_.work += exact.nodes;
        offer(exact.best);
        if (exact.is_proved) result_.bound = result_.total;
    }

    /// Plans a few copies of every repeat, and all others like the one in the middle.
    Choice by_few_copies(Choice start) {
        if (!has_many_copies()) return start;
        const ScheduleProblem fewer = with_fewer_copies(problem_, kFewCopies);
        Choice few = start;
        few.row.clear();
        std::vector<int32_t> row_of(problem_.operators.size(), 0);
        for (size_t i = 0; i < problem_.size(); ++i) row_of[problem_.sequence[i]] = start.row[i];
        for (const size_t o : fewer.sequence) few.row.push_back(row_of[o]);
        few.queue = carriers(fewer);
        few.lead.assign(fewer.size(), Choice::kAnyLead);
        few = anneal(fewer, few, static_cast<int64_t>(static_cast<double>(left()) * kFewPart), 0.1);
        Choice all = expand_copies(problem_, fewer, few);
        const double total = EarliestTimeline(problem_, all).total();
        return total < EarliestTimeline(problem_, start).total() ? all : start;
    }

    Choice anneal(const ScheduleProblem& problem, const Choice& start, int64_t work, double temperature) {
        AnnealOptions options;
        options.work = work;
        options.seed = options_.seed;
        options.first_temperature = temperature;
        options.must_stop = [&] { return stops(); };
        Choice best = anneal_schedule(problem, start, options);
        result_.work += work;
        return best;
    }

    bool stops() {
        result_.was_stopped = result_.was_stopped || (options_.must_stop && options_.must_stop());
        return result_.was_stopped;
    }

    const ScheduleProblem& problem_;
    const PlanOptions& options_;
    PlanResult result_;
};

}  // namespace

bool is_at_bound(double total, double bound) {
    return total <= bound * (1 + kSameTotal);
}

PlanResult plan_schedule(const ScheduleProblem& problem, const PlanOptions& options) {
    return Planner(problem, options).run();
}

}  // namespace tessera::chip
