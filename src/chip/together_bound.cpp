// The best weights solve a linear program: the dual of the relaxation that shares the time of each execute
// out among the preloads that may run beside it, as far as their space allows. It is solved roughly by the
// primal-dual hybrid gradient method (Chambolle and Pock, 2011), with step sizes for each row and column
// (Pock and Chambolle, 2011). Any weights of preloads and prices of space, with the largest weights of
// executes that they leave, are feasible, so every iterate gives a bound. Debian 12 has no HiGHS, and nothing
// else here needs a linear program.

#include "chip/together_bound.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "chip/together_pairs.h"

namespace tessera::chip {
namespace {

/// A share of all work: preloads that take less get no weight.
constexpr double kNegligible = 1e-6;
/// Steps of the weights over those of their duals that are tried, one after the other.
constexpr double kPrimalSteps[] = {200, 20, 3};
constexpr size_t kIterationsBetweenValues = 50, kFewestIterations = 100, kMostIterations = 5000;

/// Every instruction set has vectors of this size.
using Lanes __attribute__((vector_size(8 * kPairLanes))) = double;

[[gnu::always_inline]] inline Lanes all_lanes(double x) {
    return Lanes{x, x};
}

[[gnu::always_inline]] inline Lanes loaded(const double* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

[[gnu::always_inline]] inline void store(double* to, Lanes lanes) {
    std::memcpy(to, &lanes, sizeof lanes);
}

/// The unknowns, which are changed together.
struct TogetherWeights {
    std::vector<double> eps, pi;  ///< of class rows, and for pairs of no rows
    std::vector<double> price;    ///< of all space during an execute of each class, over all work
};

class WeightSearch {
public:
    WeightSearch(const ScheduleProblem& problem, const TogetherBoundOptions& options)
        : problem_(problem),
          options_(options),
          pairs_(together_pairs(problem, kNegligible, options.most_pairs)),
          rows_(pairs_.rows),
          first_(pairs_.first) {}

    TogetherBound run() {
        if (pairs_.count > options_.most_pairs) return {};
        // From weights of executes alone on, then also of preloads alone.
        best_.pi.assign(places(), 0);
        best_.price.assign(pairs_.classes(), 0);
        best_value_ = value(best_);
        for (const double step : kPrimalSteps) {
            if (pairs_.count > 0) improve(best_, step);
            offer({.eps = {},
                   .pi = std::vector<double>(places(), 1),
                   .price = std::vector<double>(pairs_.classes(), 0)});
        }
        TogetherBound bound{.cycles = 0, .weights = weights()};
        bound.cycles = cycles_of_weights(problem_, bound.weights);
        return bound;
    }

private:
    /// Class rows, and what pairs of no rows may look at.
    size_t places() const { return rows_.size() + kPairLanes; }

    /// The sum of prices over each span, in cycles.
    std::vector<double> prices_of_spans(const std::vector<double>& price) const {
        std::vector<double> before = {0};  // each position with few copies
        for (const size_t c : pairs_.few) before.push_back(before.back() + price[c] / pairs_.positions[c]);
        std::vector<double> prices;
        for (const HeldSpan& span : pairs_.spans) prices.push_back(before[span.last] - before[span.first]);
        return prices;
    }
    /// The other way round: what the spans' numbers are for each class.
    std::vector<double> of_classes(const std::vector<double>& spans) const {
        const std::vector<size_t>& few = pairs_.few;
        std::vector<double> change(few.size() + 1, 0), sums(pairs_.classes(), 0);
        for (size_t n = 0; n < spans.size(); ++n) {
            change[pairs_.spans[n].first] += spans[n];
            change[pairs_.spans[n].last] -= spans[n];
        }
        double sum = 0;
        for (size_t i = 0; i < few.size(); ++i) sums[few[i]] += (sum += change[i]) / pairs_.positions[few[i]];
        return sums;
    }

    /// The largest weights of executes beside these of preloads and space.
    std::vector<double> left_by(const TogetherWeights& weights) const {
        std::vector<double> eps(places(), 1);
        const std::vector<double> prices = prices_of_spans(weights.price);
        for (const Beside& beside : pairs_.besides) {
            const Lanes progress = all_lanes(weights.pi[beside.preload] - beside.rent * prices[beside.span]);
            const double *a = &pairs_.execute_speed[beside.pair], *b = &pairs_.preload_speed[beside.pair];
            double* left = &eps[beside.execute];
            for (size_t n = 0; n < beside.pairs; n += kPairLanes) {
                const Lanes speed = loaded(a + n), before = loaded(left + n);
                const Lanes most = (1 - loaded(b + n) * progress) / (speed > 0 ? speed : all_lanes(1));
                store(left + n, speed > 0 && most < before ? most : before);
            }
        }
        return eps;
    }

    double value(const TogetherWeights& weights) const {
        const std::vector<double> eps = left_by(weights);
        double sum = 0;
        for (size_t c = 0; c < pairs_.classes(); ++c) {
            double least = std::numeric_limits<double>::infinity();
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                least = std::min(least, eps[r] * rows_[r].execute + weights.pi[r] * rows_[r].preload +
                                            weights.price[c] * (rows_[r].space - 1));
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
        std::vector<double> eps, pi, chosen;  ///< of class rows
        std::vector<double> price;            ///< of classes
        std::vector<double> together;         ///< of pairs
    };

    Steps steps(double primal) const {
        Steps steps;
        const std::vector<double> lengths = prices_of_spans(std::vector<double>(pairs_.classes(), 1));
        std::vector<double> rents(pairs_.spans.size(), 0);
        for (const ClassRow& row : rows_) {
            steps.eps.push_back(row.execute);
            steps.pi.push_back(row.preload);
        }
        steps.eps.resize(places(), 0);
        steps.together.resize(pairs_.execute_speed.size(), 0);
        for (const Beside& beside : pairs_.besides) {
            double progress = 0;
            for (size_t n = 0; n < beside.pairs; ++n) {
                const double a = pairs_.execute_speed[beside.pair + n];
                const double b = pairs_.preload_speed[beside.pair + n];
                steps.eps[beside.execute + n] += a;
                progress += b;
                const double all = a + b + b * beside.rent * lengths[beside.span];
                steps.together[beside.pair + n] = all > 0 ? 1 / (primal * all) : 0;
            }
            steps.pi[beside.preload] += progress;
            rents[beside.span] += progress * beside.rent;
        }
        steps.price = of_classes(rents);
        for (size_t c = 0; c < pairs_.classes(); ++c) {
            double all = 1 + steps.price[c];
            for (size_t r = first_[c]; r < first_[c + 1]; ++r) all += rows_[r].space;
            steps.price[c] = pairs_.has_price[c] ? primal / all : 0;
        }
        for (double& each : steps.eps) each = primal / std::max(each, kNegligible);
        for (double& each : steps.pi) each = primal / std::max(each, kNegligible);
        // Those of a class are projected together.
        steps.chosen.resize(rows_.size());
        for (size_t c = 0; c < pairs_.classes(); ++c) {
            double largest = kNegligible;
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                largest = std::max(largest, rows_[r].execute + rows_[r].preload +
                                                (pairs_.has_price[c] ? rows_[r].space : 0));
            std::fill(steps.chosen.begin() + static_cast<ptrdiff_t>(first_[c]),
                      steps.chosen.begin() + static_cast<ptrdiff_t>(first_[c + 1]), 1 / (primal * largest));
        }
        return steps;
    }

    /// Sums over pairs of their duals.
    struct Charges {
        std::vector<double> eps, pi;  ///< of class rows
        std::vector<double> rents;    ///< of spans
    };

    /// Moves the duals of pairs by the trend of the gains, and sums them up.
    void move_together(const TogetherWeights& gain, const Steps& step, std::vector<double>& together,
                       Charges& charges) const {
        for (std::vector<double>* sums : {&charges.eps, &charges.pi, &charges.rents})
            std::fill(sums->begin(), sums->end(), 0);
        const std::vector<double> prices = prices_of_spans(gain.price);
        for (const Beside& beside : pairs_.besides) {
            const Lanes progress = all_lanes(gain.pi[beside.preload] - beside.rent * prices[beside.span]);
            const double *a = &pairs_.execute_speed[beside.pair], *b = &pairs_.preload_speed[beside.pair];
            const double *eps = &gain.eps[beside.execute], *by = &step.together[beside.pair];
            double *duals = &together[beside.pair], *charged = &charges.eps[beside.execute];
            Lanes sums = all_lanes(0);
            for (size_t n = 0; n < beside.pairs; n += kPairLanes) {
                const Lanes excess = loaded(eps + n) * loaded(a + n) + progress * loaded(b + n) - 1;
                const Lanes moved = loaded(duals + n) + loaded(by + n) * excess;
                const Lanes dual = moved > 0 ? moved : all_lanes(0);
                store(duals + n, dual);
                store(charged + n, loaded(charged + n) + dual * loaded(a + n));
                sums += dual * loaded(b + n);
            }
            const double sum = sums[0] + sums[1];
            charges.pi[beside.preload] += sum;
            charges.rents[beside.span] += sum * beside.rent;
        }
    }

    void improve(TogetherWeights now, double primal) {
        const Steps step = steps(primal);
        const size_t count = rows_.size();
        now.eps = left_by(now);
        TogetherWeights gain = now;
        std::vector<double> together(pairs_.execute_speed.size(), 0), chosen(count);
        Charges charges{.eps = std::vector<double>(places(), 0),
                        .pi = std::vector<double>(places(), 0),
                        .rents = std::vector<double>(pairs_.spans.size(), 0)};
        for (size_t c = 0; c < pairs_.classes(); ++c)
            for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                chosen[r] = 1 / static_cast<double>(first_[c + 1] - first_[c]);
        const size_t numbers = pairs_.count + 2 * (count + pairs_.few.size() + pairs_.spans.size());
        const size_t iterations =
            std::clamp(options_.work / std::size(kPrimalSteps) / numbers, kFewestIterations, kMostIterations);
        // The trend of the gains is extrapolated for the duals.
        const auto go = [](double& weight, double& gained, double by, double most) {
            const double moved = std::clamp(weight + by * gained, 0.0, most);
            gained = 2 * moved - weight;
            weight = moved;
        };
        for (size_t it = 1; it <= iterations; ++it) {
            gain.price = of_classes(charges.rents);
            for (size_t c = 0; c < pairs_.classes(); ++c) {
                gain.price[c] -= 1;
                for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                    gain.price[c] += chosen[r] * rows_[r].space;
                go(now.price[c], gain.price[c], step.price[c], std::numeric_limits<double>::max());
            }
            for (size_t r = 0; r < count; ++r) {
                gain.eps[r] = chosen[r] * rows_[r].execute - charges.eps[r];
                gain.pi[r] = chosen[r] * rows_[r].preload - charges.pi[r];
                go(now.eps[r], gain.eps[r], step.eps[r], 1);
                go(now.pi[r], gain.pi[r], step.pi[r], 1);
            }
            move_together(gain, step, together, charges);
            for (size_t c = 0; c < pairs_.classes(); ++c) {
                for (size_t r = first_[c]; r < first_[c + 1]; ++r)
                    chosen[r] -=
                        step.chosen[r] * (gain.eps[r] * rows_[r].execute + gain.pi[r] * rows_[r].preload +
                                          gain.price[c] * rows_[r].space);
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
            const size_t c = pairs_.class_of[i];
            weights.execute.emplace_back(problem_.at(i).rows.size(), 0);
            weights.preload.emplace_back(problem_.at(i).rows.size(), 0);
            weights.space.push_back(best_.price[c] / pairs_.positions[c] /
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
    const TogetherPairs pairs_;
    const std::vector<ClassRow>& rows_;
    const std::vector<size_t>& first_;
    TogetherWeights best_;
    double best_value_ = 0;
};

}  // namespace

TogetherBound together_bound(const ScheduleProblem& problem, const TogetherBoundOptions& options) {
    return WeightSearch(problem, options).run();
}

}  // namespace tessera::chip
