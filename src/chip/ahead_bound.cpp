// A bound that includes execute, link, HBM and SRAM together.
//
// Let the *work* of a preload be y = c (w h + (1 - w) n + its latency): its HBM time and its link time,
// weighted by some w from 0 to 1, with c such that no preload does more than one cycle of work in a cycle
// when it runs alone. Let t be a moment and A the work that is done by then for operators that are executed
// later.
//
//     before execute k   A must grow to y_k, the preload of k; then y_k is no more ahead
//     during execute k   t grows by D >= e, and A by at most D - loss_k
//     at its end         operators that are preloaded ahead hold their bytes beside exec_bytes of k, and
//                        a byte stands for at most `rho` work: A <= rho (SRAM - exec_bytes)
//
// A preload that runs beside the execute for all of its time, with the speeds a and b of both, does b y / l
// of work in a cycle, and the execute takes e / a. The loss is linear in the times that preloads have beside
// the execute, so it is least with one of them all the time: loss_k is the least e (1 - b y / l) / a over all
// preloads. On a full link it is at least the traffic of the execute, for w = 0.
//
// With z = t - A a row takes (t, z) to
//
//     z' = z + y,  t' = max(t, z') + e,  z'' = max(z' + loss, t' - rho (SRAM - exec_bytes))
//
// which grows with t and z. So more waiting never helps, and of the states that choices of rows lead to only
// those matter that no other beats in both numbers. The smallest t after the last execute is the bound. Rows
// are chosen jointly: the fast row of a large SRAM pays for preloads that do not fit beside it.
//
// Not modelled: preloads hold all their bytes from the begin, are whole, and have an order. The format allows
// an excess of less than 0.001 cycles, so A may be larger by that.

#include "chip/ahead_bound.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "chip/timeline.h"

namespace tessera::chip {
namespace {

constexpr double kForgiven = 1e-3;  ///< cycles of excess that are ignored
/// Relative tolerance of the bound for the rounding of its sums.
constexpr double kRounding = 1e-10;

/// Factors on the work of a preload. With less than a cycle of work in a cycle, an execute that a preload
/// slows down loses more. This matters if a link share close to 1 leaves executes hardly any speed.
constexpr double kScales[] = {1, 0.98, 0.95, 0.9, 0.8};

struct AheadState {
    double time;
    double behind;  ///< time - work done ahead
};

/// A row, for the bound.
struct Step {
    double work;
    double execute;
    double loss;
    double most_ahead;
};

/// After the one step no state is later or less ahead than after the other.
bool beats(const Step& step, const Step& other) {
    return step.work <= other.work && step.execute <= other.execute && step.loss <= other.loss &&
           step.most_ahead >= other.most_ahead;
}

void add_unbeaten(const Step& step, std::vector<Step>& to) {
    for (const Step& other : to)
        if (beats(other, step)) return;
    std::erase_if(to, [&](const Step& other) { return beats(step, other); });
    to.push_back(step);
}

/// A preload beside an execute.
struct BesideExecute {
    LinkUse use;
    double work_rate;  ///< in a cycle alone, at most 1
    friend bool operator==(const BesideExecute&, const BesideExecute&) = default;
};

/// Weighted times, and the values for all rows of a problem that follow from them.
class Weights {
public:
    Weights(const ScheduleProblem& problem, double weight, double scale)
        : problem_(problem), weight_(weight) {
        double fastest = 0;
        for (const Operator& each : problem.operators)
            for (const Row& row : each.rows)
                if (problem.is_usable(row) && row.preload() > 0)
                    fastest = std::max(fastest, raw_work(row) / row.preload());
        scale_ = fastest > 0 ? scale / fastest : scale;
        for (const Operator& each : problem.operators)
            for (const Row& row : each.rows) {
                if (!problem.is_usable(row) || row.preload() <= 0) continue;
                rho_ = std::max(rho_, work(row) / static_cast<double>(row.preload_bytes));
                beside_.push_back({row.preload_use(), work(row) / row.preload()});
                if (problem.share != Share::kPhases) beside_.back().use.cycles = 0;  // many are equal then
            }
        const auto before = [](const BesideExecute& a, const BesideExecute& b) {
            const auto key = [](const BesideExecute& it) {
                return std::tuple(it.use.share, it.work_rate, it.use.cycles);
            };
            return key(a) < key(b);
        };
        std::sort(beside_.begin(), beside_.end(), before);
        beside_.erase(std::unique(beside_.begin(), beside_.end()), beside_.end());
    }

    Step step(const Row& row) const {
        // An execute that is shorter than the ignored time may hide a longer excess.
        const double most_ahead =
            row.execute() < kForgiven
                ? std::numeric_limits<double>::infinity()
                : rho_ * static_cast<double>(problem_.sram_bytes - row.exec_bytes) + kForgiven;
        return {work(row), row.execute(), loss(row), most_ahead};
    }

private:
    double raw_work(const Row& row) const {
        return weight_ * row.hbm + (1 - weight_) * row.link_in + row.latency;
    }
    double work(const Row& row) const { return scale_ * raw_work(row); }

    double loss(const Row& row) const {
        double least = row.execute();
        for (const BesideExecute& preload : beside_) {
            const Speeds speed = speeds(problem_.share, row.execute_use(), preload.use);
            if (speed.execute <= 0) continue;
            least = std::min(least, row.execute() * (1 - speed.preload * preload.work_rate) / speed.execute);
        }
        return std::max(0.0, least);
    }

    const ScheduleProblem& problem_;
    double weight_;
    double scale_ = 1;
    double rho_ = 0;
    std::vector<BesideExecute> beside_;
};

/// The states that no other one equals or beats in both numbers, by increasing time: the second one falls.
using BestStates = std::vector<AheadState>;

/// The states that a step makes of others.
void step_from(const BestStates& states, const Step& step, BestStates& to) {
    to.clear();
    for (const AheadState& state : states) {
        const double behind = state.behind + step.work;
        const double time = std::max(state.time, behind) + step.execute;
        const double by_work = behind + step.loss, by_space = time - step.most_ahead;
        const AheadState after{time, std::max(by_work, by_space)};
        while (!to.empty() && after.time <= to.back().time && after.behind <= to.back().behind) to.pop_back();
        if (to.empty() || after.behind < to.back().behind) to.push_back(after);
        // Both numbers grow from here on, since space decides.
        if (time > behind + step.execute && by_space >= by_work) return;
    }
}

void merge(const BestStates& a, const BestStates& b, BestStates& to) {
    to.clear();
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool is_a = j == b.size() ||
                          (i < a.size() &&
                           (a[i].time < b[j].time || (a[i].time == b[j].time && a[i].behind <= b[j].behind)));
        const AheadState& next = is_a ? a[i++] : b[j++];
        if (to.empty() || next.behind < to.back().behind) to.push_back(next);
    }
}

/// Merges neighbours if there are more than `most`.
void keep_most(BestStates& states, size_t most) {
    while (states.size() > most) {
        size_t merged = 0;
        for (size_t i = 0; i < states.size(); i += 2)
            states[merged++] = {states[i].time, states[std::min(i + 1, states.size() - 1)].behind};
        states.resize(merged);
    }
}

double bound_with(const ScheduleProblem& problem, double weight, double scale, size_t most_states) {
    const Weights weights(problem, weight, scale);
    std::vector<std::vector<Step>> steps(problem.operators.size());
    for (size_t o = 0; o < steps.size(); ++o)
        for (const Row& row : problem.operators[o].rows)
            if (problem.is_usable(row)) add_unbeaten(weights.step(row), steps[o]);
    BestStates states = {{0, 0}}, next, stepped, both;
    for (const size_t o : problem.sequence) {
        next.clear();
        for (const Step& step : steps[o]) {
            step_from(states, step, stepped);
            merge(next, stepped, both);
            next.swap(both);
        }
        keep_most(next, most_states);
        states.swap(next);
    }
    return states.front().time;
}

}  // namespace

double ahead_bound(const ScheduleProblem& problem, const AheadBoundOptions& options) {
    double best = 0;
    for (size_t i = 0; i < options.weights; ++i) {
        const double weight =
            options.weights > 1 ? static_cast<double>(i) / static_cast<double>(options.weights - 1) : 0;
        for (const double scale : kScales)
            best = std::max(best, bound_with(problem, weight, scale, options.most_states));
    }
    return best * (1 - kRounding);
}

}  // namespace tessera::chip
