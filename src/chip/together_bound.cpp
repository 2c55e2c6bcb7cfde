// A bound by what cannot run together.
//
// Give each execute a weight eps and each preload a weight pi, from 0 to 1, such that an execute and a
// preload that may run together, at speeds a and b, have eps a + pi b <= 1. Then in every cycle weighted
// progress is at most one cycle, and a schedule that takes row r for each operator makes
//
//     sum of eps e + pi l  of the rows  <=  total
//
// of it in all. So the sum over operators of the least eps(r) e(r) + pi(r) l(r) over rows is a bound. With
// weights 1 and 0 it is the execute or HBM bound, with the link shares u and v it is the link bound.
//
// Preload j runs beside execute k only if k is before j, and only if j may be *held* from there on:
//
//     beside k               exec_bytes of k and preload_bytes of j are within the SRAM
//     across each m between  so are those of m and j, and the preload_bytes of both: either m is preloaded
//     already
//                            while j is, or j is held for all of the preload of m
//
// in some row of m. An excess of at most 0.001 cycles is forgiven, so what ends sooner does not count as m,
// and in all the bound is lower by that for each begin.
//
// The best weights solve a linear program: the dual of the relaxation that shares the time of each execute
// out among the preloads that may run beside it. It is solved roughly by the primal-dual hybrid gradient
// method (Chambolle and Pock, 2011), with step sizes for each row and column (Pock and Chambolle, 2011). Any
// weights of preloads, with the largest of executes that they leave, are feasible, so every iterate gives a
// bound. A simplex finds the optimum: HiGHS in 0.08 and 0.04 CPU seconds for two problems of 19,358 and
// 10,692 pairs, with bounds that are 0.07 and 0.14 % larger. But Debian 12 has no HiGHS, and nothing else
// here needs a linear program.

#include "chip/together_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "chip/repeat_plan.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

/// Cycles of excess that are ignored.
constexpr double kIgnored = 1e-3;
/// Relative tolerance of the bound for the rounding of its sums, and of weights.
constexpr double kRoundedSum = 1e-10;
/// Two copies with a whole one between them are like any two farther apart.
constexpr size_t kTellingCopies = 3;
/// A share of all work: preloads that take less get no weight.
constexpr double kNegligible = 1e-6;
/// Steps of the weights over those of their duals that are tried, one after the other.
constexpr double kPrimalSteps[] = {3, 0.5, 20};
constexpr size_t kIterationsBetweenValues = 50, kFewestIterations = 100, kMostIterations = 5000;

/// The most bytes of another preload that is held across the operator.
int64_t room_across(const ScheduleProblem& problem, const Operator& op) {
    int64_t most = -1;
    for (const Row& row : op.rows) {
        if (!problem.is_usable(row)) continue;
        const int64_t preload = row.preload() > kIgnored ? row.preload_bytes : 0;
        const int64_t execute = row.execute() > kIgnored ? row.exec_bytes : 0;
        most = std::max(most, problem.sram_bytes - std::max(preload, execute));
    }
    return most;
}

/// Positions that are the same one of the copies of a repeat are of one class.
std::vector<size_t> classes_of(const ScheduleProblem& problem) {
    std::vector<size_t> classes(problem.size());
    size_t next = 0, repeat = 0;
    for (size_t i = 0; i < problem.size();) {
        if (repeat == problem.repeats.size() || i < problem.repeats[repeat].first) {
            classes[i++] = next++;
            continue;
        }
        const Repeat& of = problem.repeats[repeat++];
        for (size_t c = 0; c < of.count * of.length; ++c) classes[i + c] = next + c % of.length;
        i += of.count * of.length;
        next += of.length;
    }
    return classes;
}

/// A row of a class, and the places of its weights.
struct ClassRow {
    const Row* row;
    size_t index;    ///< in the operator
    double execute;  ///< of all positions of the class, as parts of all work
    double preload;
};

struct Pair {
    uint32_t execute, preload;  ///< class rows
    double a, b;
};

class WeightSearch {
public:
    WeightSearch(const ScheduleProblem& problem, const TogetherBoundOptions& options)
        : problem_(problem), options_(options), classes_(classes_of(problem)) {
        add_rows();
        add_pairs();
    }

    TogetherBound run() {
        if (pairs_.size() > options_.most_pairs) return {};
        // From weights of executes alone on, then also of preloads alone.
        best_pi_.assign(rows_.size(), 0);
        best_ = value(best_pi_);
        for (const double step : kPrimalSteps) {
            if (!pairs_.empty()) improve(best_pi_, step);
            offer(std::vector<double>(rows_.size(), 1));
        }
        TogetherBound bound{.cycles = 0, .weights = weights()};
        bound.cycles = cycles_of_weights(problem_, bound.weights);
        return bound;
    }

private:
    size_t classes() const { return first_.size() - 1; }

    void add_rows() {
        const size_t count = *std::max_element(classes_.begin(), classes_.end()) + 1;
        std::vector<double> positions(count, 0);
        std::vector<size_t> member(count, 0);
        for (size_t i = 0; i < problem_.size(); ++i) {
            ++positions[classes_[i]];
            member[classes_[i]] = i;
        }
        double all = 0;
        for (size_t c = 0; c < count; ++c) {
            first_.push_back(rows_.size());
            const Operator& op = problem_.at(member[c]);
            double least = std::numeric_limits<double>::infinity();
            for (size_t r = 0; r < op.rows.size(); ++r) {
                if (!problem_.is_usable(op.rows[r])) continue;
                const Row& row = op.rows[r];
                rows_.push_back({&row, r, positions[c] * row.execute(), positions[c] * row.preload()});
                least = std::min(least, positions[c] * row.execute());
            }
            all += least;
        }
        first_.push_back(rows_.size());
        for (ClassRow& row : rows_) {
            row.execute /= all;
            row.preload /= all;
        }
    }

    /// The rows of an execute's class and of a preload's that may run together in some copies.
    void add_pairs() {
        const ScheduleProblem fewer = with_fewer_copies(problem_, kTellingCopies);
        const std::vector<size_t> of = classes_of(fewer);
        std::vector<int64_t> room;
        for (const Operator& op : fewer.operators) room.push_back(room_across(fewer, op));
        std::map<std::pair<size_t, size_t>, int64_t> most_held;
        for (size_t k = 0; k < fewer.size(); ++k) {
            int64_t held = fewer.sram_bytes;
            for (size_t j = k + 1; j < fewer.size() && held > 0; ++j) {
                int64_t& most = most_held[{of[k], of[j]}];
                most = std::max(most, held);
                held = std::min(held, room[fewer.sequence[j]]);
            }
            if (most_held.size() > options_.most_pairs) break;
        }
        for (const auto& [classes, held] : most_held) {
            add_pairs(classes.first, classes.second, held);
            if (pairs_.size() > options_.most_pairs) return;
        }
    }

    void add_pairs(size_t execute, size_t preload, int64_t held) {
        for (size_t p = first_[preload]; p < first_[preload + 1]; ++p) {
            const Row& preloaded = *rows_[p].row;
            if (rows_[p].preload < kNegligible || preloaded.preload_bytes > held) continue;
            for (size_t e = first_[execute]; e < first_[execute + 1]; ++e) {
                const Row& executed = *rows_[e].row;
                if (executed.exec_bytes + preloaded.preload_bytes > problem_.sram_bytes) continue;
                const Speeds speed = speeds(problem_.share, executed.execute_use(), preloaded.preload_use());
                pairs_.push_back(
                    {static_cast<uint32_t>(e), static_cast<uint32_t>(p), speed.execute, speed.preload});
            }
        }
    }

    /// The largest weights of executes beside these of preloads.
    std::vector<double> left_by(const std::vector<double>& pi) const {
        std::vector<double> eps(rows_.size(), 1);
        for (const Pair& pair : pairs_)
            if (pair.a > 0)
                eps[pair.execute] = std::min(eps[pair.execute], (1 - pi[pair.preload] * pair.b) / pair.a);
        return eps;
    }

    double value(const std::vector<double>& pi) const {
        const std::vector<double> eps = left_by(pi);
        double sum = 0;
        for (size_t c = 0; c < classes(); ++c) {
            double least = std::numeric_limits<double>::infinity();
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                least = std::min(least, eps[r] * rows_[r].execute + pi[r] * rows_[r].preload);
            sum += least;
        }
        return sum;
    }

    void offer(const std::vector<double>& pi) {
        const double found = value(pi);
        if (found <= best_) return;
        best_ = found;
        best_pi_ = pi;
    }

    /// The largest steps of each variable that the method allows.
    struct Steps {
        std::vector<double> eps, pi, chosen;  ///< of rows
        std::vector<double> together;         ///< of pairs
    };

    Steps steps(double primal) const {
        Steps steps;
        for (const ClassRow& row : rows_) {
            steps.eps.push_back(row.execute);
            steps.pi.push_back(row.preload);
        }
        for (const Pair& pair : pairs_) {
            steps.eps[pair.execute] += pair.a;
            steps.pi[pair.preload] += pair.b;
            steps.together.push_back(1 / (primal * (pair.a + pair.b)));
        }
        for (double& each : steps.eps) each = primal / std::max(each, kNegligible);
        for (double& each : steps.pi) each = primal / std::max(each, kNegligible);
        // Those of a class are projected together.
        steps.chosen.resize(rows_.size());
        for (size_t c = 0; c < classes(); ++c) {
            double largest = kNegligible;
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                largest = std::max(largest, rows_[r].execute + rows_[r].preload);
            std::fill(steps.chosen.begin() + static_cast<ptrdiff_t>(first_[c]),
                      steps.chosen.begin() + static_cast<ptrdiff_t>(first_[c + 1]), 1 / (primal * largest));
        }
        return steps;
    }

    void improve(std::vector<double> pi, double primal) {
        const Steps step = steps(primal);
        const size_t count = rows_.size();
        std::vector<double> eps = left_by(pi), gain_eps(count), gain_pi(count);
        std::vector<double> together(pairs_.size(), 0), chosen(count);
        for (size_t c = 0; c < classes(); ++c)
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                chosen[r] = 1 / static_cast<double>(first_[c + 1] - first_[c]);
        const size_t iterations = std::clamp(options_.work / std::size(kPrimalSteps) / pairs_.size(),
                                             kFewestIterations, kMostIterations);
        for (size_t it = 1; it <= iterations; ++it) {
            for (size_t r = 0; r < count; ++r) {
                gain_eps[r] = chosen[r] * rows_[r].execute;
                gain_pi[r] = chosen[r] * rows_[r].preload;
            }
            for (size_t p = 0; p < pairs_.size(); ++p) {
                gain_eps[pairs_[p].execute] -= together[p] * pairs_[p].a;
                gain_pi[pairs_[p].preload] -= together[p] * pairs_[p].b;
            }
            // The trend of the gains is extrapolated for the duals.
            for (size_t r = 0; r < count; ++r) {
                const double new_eps = std::clamp(eps[r] + step.eps[r] * gain_eps[r], 0.0, 1.0);
                const double new_pi = std::clamp(pi[r] + step.pi[r] * gain_pi[r], 0.0, 1.0);
                gain_eps[r] = 2 * new_eps - eps[r];
                gain_pi[r] = 2 * new_pi - pi[r];
                eps[r] = new_eps;
                pi[r] = new_pi;
            }
            for (size_t p = 0; p < pairs_.size(); ++p) {
                const Pair& pair = pairs_[p];
                const double excess = gain_eps[pair.execute] * pair.a + gain_pi[pair.preload] * pair.b - 1;
                together[p] = std::max(0.0, together[p] + step.together[p] * excess);
            }
            for (size_t r = 0; r < count; ++r)
                chosen[r] -=
                    step.chosen[r] * (gain_eps[r] * rows_[r].execute + gain_pi[r] * rows_[r].preload);
            for (size_t c = 0; c < classes(); ++c) make_distribution(chosen, first_[c], first_[c + 1]);
            if (it % kIterationsBetweenValues == 0) offer(pi);
        }
    }

    /// Projects entries onto those that are not negative and have the sum 1.
    static void make_distribution(std::vector<double>& of, size_t first, size_t last) {
        std::vector<double> sorted(of.begin() + static_cast<ptrdiff_t>(first),
                                   of.begin() + static_cast<ptrdiff_t>(last));
        std::sort(sorted.rbegin(), sorted.rend());
        double sum = 0, above = 0;
        for (size_t n = 0; n < sorted.size(); ++n) {
            sum += sorted[n];
            const double level = (sum - 1) / static_cast<double>(n + 1);
            if (sorted[n] > level) above = level;
        }
        for (size_t r = first; r < last; ++r) of[r] = std::max(0.0, of[r] - above);
    }

    ProgressWeights weights() const {
        const std::vector<double> eps = left_by(best_pi_);
        ProgressWeights weights;
        for (size_t i = 0; i < problem_.size(); ++i) {
            weights.execute.emplace_back(problem_.at(i).rows.size(), 0);
            weights.preload.emplace_back(problem_.at(i).rows.size(), 0);
            for (size_t r = first_[classes_[i]]; r < first_[classes_[i] + 1]; ++r) {
                weights.execute.back()[rows_[r].index] = eps[r];
                weights.preload.back()[rows_[r].index] = best_pi_[r];
            }
        }
        return weights;
    }

    const ScheduleProblem& problem_;
    const TogetherBoundOptions& options_;
    std::vector<size_t> classes_;  ///< of each position
    std::vector<ClassRow> rows_;
    std::vector<size_t> first_;  ///< row of each class, and the end
    std::vector<Pair> pairs_;
    double best_ = 0;
    std::vector<double> best_pi_;
};

}  // namespace

TogetherBound together_bound(const ScheduleProblem& problem, const TogetherBoundOptions& options) {
    return WeightSearch(problem, options).run();
}

double cycles_of_weights(const ScheduleProblem& problem, const ProgressWeights& weights) {
    double sum = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t r = 0; r < problem.at(i).rows.size(); ++r) {
            const Row& row = problem.at(i).rows[r];
            if (problem.is_usable(row))
                least = std::min(
                    least, weights.execute[i][r] * row.execute() + weights.preload[i][r] * row.preload());
        }
        sum += least;
    }
    // While an excess is ignored, progress may be two cycles in a cycle.
    return sum * (1 - kRoundedSum) - 2 * static_cast<double>(problem.size()) * kIgnored;
}

std::string weights_fault(const ScheduleProblem& problem, const ProgressWeights& weights) {
    for (size_t k = 0; k < problem.size(); ++k) {
        for (size_t rk = 0; rk < problem.at(k).rows.size(); ++rk) {
            const Row& executed = problem.at(k).rows[rk];
            if (!problem.is_usable(executed)) continue;
            const double eps = weights.execute[k][rk];
            if (std::min(eps, weights.preload[k][rk]) < 0 || std::max(eps, weights.preload[k][rk]) > 1)
                return fmt::format("operator {}, row {}: a weight is not from 0 to 1", k, rk);
            int64_t held = problem.sram_bytes - executed.exec_bytes;
            for (size_t j = k + 1; j < problem.size(); ++j) {
                for (size_t rj = 0; rj < problem.at(j).rows.size(); ++rj) {
                    const Row& preloaded = problem.at(j).rows[rj];
                    if (preloaded.preload() <= 0 || preloaded.preload_bytes > held) continue;
                    const Speeds speed =
                        speeds(problem.share, executed.execute_use(), preloaded.preload_use());
                    if (eps * speed.execute + weights.preload[j][rj] * speed.preload <= 1 + kRoundedSum)
                        continue;
                    return fmt::format("operator {} is executed in row {} beside the preload of {} in row {}",
                                       k, rk, j, rj);
                }
                held = std::min(held, room_across(problem, problem.at(j)));
            }
        }
    }
    return {};
}

}  // namespace tessera::chip
