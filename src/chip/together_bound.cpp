// The best weights solve a linear program: the dual of the relaxation that shares the time of each execute
// out among the preloads that may run beside it, as far as their space allows. It is solved roughly by the
// primal-dual hybrid gradient method (Chambolle and Pock, 2011), with step sizes for each row and column
// (Pock and Chambolle, 2011). Any weights of preloads and prices of space, with the largest weights of
// executes that they leave, are feasible, so every iterate gives a bound. Debian 12 has no HiGHS, and nothing
// else here needs a linear program.

#include "chip/together_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "chip/repeat_plan.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

/// Two copies with a whole one between them are like any two farther apart.
constexpr size_t kTellingCopies = 3;
/// A share of all work: preloads that take less get no weight.
constexpr double kNegligible = 1e-6;
/// Steps of the weights over those of their duals that are tried, one after the other.
constexpr double kPrimalSteps[] = {200, 20, 3};
constexpr size_t kIterationsBetweenValues = 50, kFewestIterations = 100, kMostIterations = 5000;

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
    uint32_t span;              ///< place of the positions across which the preload is held
    double a, b;
    double rent;  ///< for a price of 1 of all space during the span, over all work
};

/// Positions of the problem with few copies, the last one excluded.
struct HeldSpan {
    size_t first, last;
};

/// The unknowns, which are changed together.
struct TogetherWeights {
    std::vector<double> eps, pi;  ///< of class rows
    std::vector<double> price;    ///< of all space during an execute of each class, over all work
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
        best_.pi.assign(rows_.size(), 0);
        best_.price.assign(classes(), 0);
        best_value_ = value(best_);
        for (const double step : kPrimalSteps) {
            if (!pairs_.empty()) improve(best_, step);
            offer({.eps = {},
                   .pi = std::vector<double>(rows_.size(), 1),
                   .price = std::vector<double>(classes(), 0)});
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
            has_price_.push_back(has_space_limit(problem_, op));
        }
        first_.push_back(rows_.size());
        for (const double each : positions) positions_.push_back(each / all);
        for (ClassRow& row : rows_) {
            row.execute /= all;
            row.preload /= all;
        }
    }

    /// The rows of an execute's class and of a preload's that may run together in some copies.
    void add_pairs() {
        const ScheduleProblem fewer = with_fewer_copies(problem_, kTellingCopies);
        few_ = classes_of(fewer);
        const std::vector<size_t>& of = few_;
        std::vector<int64_t> room;
        for (const Operator& op : fewer.operators) room.push_back(room_across(fewer, op));
        struct Held {
            int64_t bytes = 0;
            HeldSpan span{0, 0};
        };
        // The nearest copies have the most room, and pay for the fewest positions.
        std::map<std::pair<size_t, size_t>, Held> most_held;
        for (size_t k = 0; k < fewer.size(); ++k) {
            int64_t held = fewer.sram_bytes;
            for (size_t j = k + 1; j < fewer.size() && held > 0; ++j) {
                Held& most = most_held[{of[k], of[j]}];
                if (most.bytes == 0 || j - k < most.span.last - most.span.first) most.span = {k, j};
                most.bytes = std::max(most.bytes, held);
                held = std::min(held, room[fewer.sequence[j]]);
            }
            if (most_held.size() > options_.most_pairs) break;
        }
        for (const auto& [classes, held] : most_held) {
            spans_.push_back(held.span);
            add_pairs(classes.first, classes.second, held.bytes);
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
                pairs_.push_back({static_cast<uint32_t>(e), static_cast<uint32_t>(p),
                                  static_cast<uint32_t>(spans_.size() - 1), speed.execute, speed.preload,
                                  speed.preload / preloaded.preload() * space(preloaded.preload_bytes)});
            }
        }
    }

    /// As a part of the SRAM.
    double space(int64_t bytes) const {
        return static_cast<double>(bytes) / static_cast<double>(problem_.sram_bytes);
    }

    /// The sum of prices over each span, in cycles.
    std::vector<double> prices_of_spans(const std::vector<double>& price) const {
        std::vector<double> before = {0};  // each position with few copies
        for (const size_t c : few_) before.push_back(before.back() + price[c] / positions_[c]);
        std::vector<double> prices;
        for (const HeldSpan& span : spans_) prices.push_back(before[span.last] - before[span.first]);
        return prices;
    }
    /// The other way round: what the spans' numbers are for each class.
    std::vector<double> of_classes(const std::vector<double>& spans) const {
        std::vector<double> change(few_.size() + 1, 0), sums(classes(), 0);
        for (size_t n = 0; n < spans_.size(); ++n) {
            change[spans_[n].first] += spans[n];
            change[spans_[n].last] -= spans[n];
        }
        double sum = 0;
        for (size_t i = 0; i < few_.size(); ++i) sums[few_[i]] += (sum += change[i]) / positions_[few_[i]];
        return sums;
    }

    /// The largest weights of executes beside these of preloads and space.
    std::vector<double> left_by(const TogetherWeights& weights) const {
        std::vector<double> eps(rows_.size(), 1);
        const std::vector<double> prices = prices_of_spans(weights.price);
        for (const Pair& pair : pairs_)
            if (pair.a > 0)
                eps[pair.execute] = std::min(
                    eps[pair.execute],
                    (1 + pair.rent * prices[pair.span] - weights.pi[pair.preload] * pair.b) / pair.a);
        return eps;
    }

    double value(const TogetherWeights& weights) const {
        const std::vector<double> eps = left_by(weights);
        double sum = 0;
        for (size_t c = 0; c < classes(); ++c) {
            double least = std::numeric_limits<double>::infinity();
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                least = std::min(least, eps[r] * rows_[r].execute + weights.pi[r] * rows_[r].preload +
                                            weights.price[c] * (space(rows_[r].row->exec_bytes) - 1));
            sum += least;
        }
        return sum;
    }

    void offer(const TogetherWeights& weights) {
        const double found = value(weights);
        if (found <= best_value_) return;
        best_value_ = found;
        best_ = weights;
    }

    /// The largest steps of each variable that the method allows.
    struct Steps {
        std::vector<double> eps, pi, chosen;  ///< of rows
        std::vector<double> price;            ///< of classes
        std::vector<double> together;         ///< of pairs
    };

    Steps steps(double primal) const {
        Steps steps;
        const std::vector<double> lengths = prices_of_spans(std::vector<double>(classes(), 1));
        std::vector<double> rents(spans_.size(), 0);
        for (const ClassRow& row : rows_) {
            steps.eps.push_back(row.execute);
            steps.pi.push_back(row.preload);
        }
        for (const Pair& pair : pairs_) {
            steps.eps[pair.execute] += pair.a;
            steps.pi[pair.preload] += pair.b;
            steps.together.push_back(1 / (primal * (pair.a + pair.b + pair.rent * lengths[pair.span])));
            rents[pair.span] += pair.rent;
        }
        steps.price = of_classes(rents);
        for (size_t c = 0; c < classes(); ++c) {
            double all = 1 + steps.price[c];
            for (size_t r = first_[c]; r < first_[c + 1]; ++r) all += space(rows_[r].row->exec_bytes);
            steps.price[c] = has_price_[c] ? primal / all : 0;
        }
        for (double& each : steps.eps) each = primal / std::max(each, kNegligible);
        for (double& each : steps.pi) each = primal / std::max(each, kNegligible);
        // Those of a class are projected together.
        steps.chosen.resize(rows_.size());
        for (size_t c = 0; c < classes(); ++c) {
            double largest = kNegligible;
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                largest = std::max(largest, rows_[r].execute + rows_[r].preload +
                                                (has_price_[c] ? space(rows_[r].row->exec_bytes) : 0));
            std::fill(steps.chosen.begin() + static_cast<ptrdiff_t>(first_[c]),
                      steps.chosen.begin() + static_cast<ptrdiff_t>(first_[c + 1]), 1 / (primal * largest));
        }
        return steps;
    }

    void improve(TogetherWeights now, double primal) {
        const Steps step = steps(primal);
        const size_t count = rows_.size();
        now.eps = left_by(now);
        TogetherWeights gain = now;
        std::vector<double> together(pairs_.size(), 0), chosen(count), rents(spans_.size());
        for (size_t c = 0; c < classes(); ++c)
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                chosen[r] = 1 / static_cast<double>(first_[c + 1] - first_[c]);
        const size_t numbers = pairs_.size() + 2 * (count + few_.size() + spans_.size());
        const size_t iterations =
            std::clamp(options_.work / std::size(kPrimalSteps) / numbers, kFewestIterations, kMostIterations);
        // The trend of the gains is extrapolated for the duals.
        const auto go = [](double& weight, double& gained, double by, double most) {
            const double moved = std::clamp(weight + by * gained, 0.0, most);
            gained = 2 * moved - weight;
            weight = moved;
        };
        for (size_t it = 1; it <= iterations; ++it) {
            for (size_t r = 0; r < count; ++r) {
                gain.eps[r] = chosen[r] * rows_[r].execute;
                gain.pi[r] = chosen[r] * rows_[r].preload;
            }
            std::fill(rents.begin(), rents.end(), 0);
            for (size_t p = 0; p < pairs_.size(); ++p) {
                gain.eps[pairs_[p].execute] -= together[p] * pairs_[p].a;
                gain.pi[pairs_[p].preload] -= together[p] * pairs_[p].b;
                rents[pairs_[p].span] += together[p] * pairs_[p].rent;
            }
            gain.price = of_classes(rents);
            for (size_t c = 0; c < classes(); ++c) {
                gain.price[c] -= 1;
                for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                    gain.price[c] += chosen[r] * space(rows_[r].row->exec_bytes);
                go(now.price[c], gain.price[c], step.price[c], std::numeric_limits<double>::max());
            }
            for (size_t r = 0; r < count; ++r) {
                go(now.eps[r], gain.eps[r], step.eps[r], 1);
                go(now.pi[r], gain.pi[r], step.pi[r], 1);
            }
            const std::vector<double> prices = prices_of_spans(gain.price);
            for (size_t p = 0; p < pairs_.size(); ++p) {
                const Pair& pair = pairs_[p];
                const double excess = gain.eps[pair.execute] * pair.a + gain.pi[pair.preload] * pair.b - 1 -
                                      pair.rent * prices[pair.span];
                together[p] = std::max(0.0, together[p] + step.together[p] * excess);
            }
            for (size_t c = 0; c < classes(); ++c) {
                for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                    chosen[r] -=
                        step.chosen[r] * (gain.eps[r] * rows_[r].execute + gain.pi[r] * rows_[r].preload +
                                          gain.price[c] * space(rows_[r].row->exec_bytes));
                make_distribution(chosen, first_[c], first_[c + 1]);
            }
            if (it % kIterationsBetweenValues == 0) offer(now);
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
        const std::vector<double> eps = left_by(best_);
        ProgressWeights weights;
        for (size_t i = 0; i < problem_.size(); ++i) {
            const size_t c = classes_[i];
            weights.execute.emplace_back(problem_.at(i).rows.size(), 0);
            weights.preload.emplace_back(problem_.at(i).rows.size(), 0);
            weights.space.push_back(best_.price[c] / positions_[c] /
                                    static_cast<double>(problem_.sram_bytes));
            for (size_t r = first_[c]; r < first_[c + 1]; ++r) {
                weights.execute.back()[rows_[r].index] = eps[r];
                weights.preload.back()[rows_[r].index] = rows_[r].preload < kNegligible ? 0 : best_.pi[r];
            }
        }
        return weights;
    }

    const ScheduleProblem& problem_;
    const TogetherBoundOptions& options_;
    std::vector<size_t> classes_;  ///< of each position
    std::vector<ClassRow> rows_;
    std::vector<size_t> first_;       ///< row of each class, and the end
    std::vector<double> positions_;   ///< of each class, over all work
    std::vector<uint8_t> has_price_;  ///< of each class
    std::vector<size_t> few_;         ///< the classes of the positions with few copies
    std::vector<Pair> pairs_;
    std::vector<HeldSpan> spans_;
    TogetherWeights best_;
    double best_value_ = 0;
};

}  // namespace

TogetherBound together_bound(const ScheduleProblem& problem, const TogetherBoundOptions& options) {
    return WeightSearch(problem, options).run();
}

}  // namespace tessera::chip
