#include "chip/linear_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace tessera::chip {
namespace {

constexpr size_t kFolds = 5;
constexpr size_t kMostDepth = 5;
/// Places of a decision that are tried along each input.
constexpr size_t kMostPlaces = 64;
/// Samples of a leaf for each of its coefficients, at least.
constexpr size_t kSamplesOfCoefficient = 2;
/// A decision leaves at most this share of the squared errors.
constexpr double kWorthwhile = 0.9;
/// A deeper tree is taken only if its errors are this much smaller.
constexpr double kDeeper = 0.97;
/// Mean errors that come from rounding.
constexpr double kExact = 1e-6;
/// Keeps the equations solvable where inputs follow from each other.
constexpr double kRidge = 1e-10;

using Indices = std::vector<size_t>;

/// The sums of least squares: the products of (1, inputs, cycles) with each other, each sample weighted by
/// one over its squared time.
class Moments {
public:
    explicit Moments(size_t inputs) : size_(inputs + 2), sums_(size_ * size_, 0) {}

    /// @param row  1, scaled inputs, cycles
    void add(const std::vector<double>& row, double sign) {
        const double weight = sign / (row.back() * row.back());
        for (size_t i = 0; i < size_; ++i)
            for (size_t j = i; j < size_; ++j) sums_[i * size_ + j] += weight * row[i] * row[j];
    }

    /// The coefficients with the least squared errors.
    std::vector<double> solve() const {
        const size_t n = size_ - 1;
        std::vector<double> matrix(n * n), right(n);
        double trace = 0;
        for (size_t i = 0; i < n; ++i) trace += at(i, i);
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = 0; j < n; ++j) matrix[i * n + j] = at(i, j);
            matrix[i * n + i] += kRidge * std::max(trace / static_cast<double>(n), at(i, i));
            right[i] = at(i, n);
        }
        // Cholesky: the matrix is positive definite.
        for (size_t i = 0; i < n; ++i)
            for (size_t j = i; j < n; ++j) {
                double sum = matrix[i * n + j];
                for (size_t k = 0; k < i; ++k) sum -= matrix[k * n + i] * matrix[k * n + j];
                matrix[i * n + j] = i == j ? std::sqrt(std::max(sum, std::numeric_limits<double>::min()))
                                           : sum / matrix[i * n + i];
            }
        for (size_t i = 0; i < n; ++i) {
            for (size_t k = 0; k < i; ++k) right[i] -= matrix[k * n + i] * right[k];
            right[i] /= matrix[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
            for (size_t k = i + 1; k < n; ++k) right[i] -= matrix[i * n + k] * right[k];
            right[i] /= matrix[i * n + i];
        }
        return right;
    }

    /// The sum of squared relative errors that is left.
    double rest() const {
        const size_t n = size_ - 1;
        const std::vector<double> solved = solve();
        double sum = at(n, n);
        for (size_t i = 0; i < n; ++i) {
            sum -= 2 * solved[i] * at(i, n);
            for (size_t j = 0; j < n; ++j) sum += solved[i] * at(i, j) * solved[j];
        }
        return std::max(0.0, sum);
    }

private:
    double at(size_t i, size_t j) const { return i <= j ? sums_[i * size_ + j] : sums_[j * size_ + i]; }

    size_t size_;
    std::vector<double> sums_;  ///< the upper half
};

struct Decision {
    double rest = std::numeric_limits<double>::infinity();
    size_t input = 0;
    double below = 0;
};

class TreeFit {
public:
    explicit TreeFit(const std::vector<CostSample>& samples)
        : samples_(samples), inputs_(samples.front().inputs.size()), scale_(inputs_, 1) {
        for (const CostSample& sample : samples)
            for (size_t i = 0; i < inputs_; ++i) scale_[i] = std::max(scale_[i], std::abs(sample.inputs[i]));
        for (const CostSample& sample : samples) {
            std::vector<double> row = {1};
            for (size_t i = 0; i < inputs_; ++i) row.push_back(sample.inputs[i] / scale_[i]);
            row.push_back(sample.cycles);
            rows_.push_back(std::move(row));
        }
    }

    LinearTree fit(const Indices& samples, size_t depth) const {
        LinearTree tree;
        grow(samples, depth, tree);
        return tree;
    }

private:
    Moments moments_of(const Indices& samples) const {
        Moments moments(inputs_);
        for (const size_t s : samples) moments.add(rows_[s], 1);
        return moments;
    }

    void grow(const Indices& samples, size_t depth, LinearTree& tree) const {
        const Moments all = moments_of(samples);
        const double rest = all.rest();
        if (depth > 0) {
            const Decision best = best_decision(samples, all);
            if (best.rest < kWorthwhile * rest) {
                const size_t own = tree.nodes.size();
                tree.nodes.push_back({.input = best.input, .below = best.below, .slopes = {}});
                Indices smaller, other;
                for (const size_t s : samples)
                    (samples_[s].inputs[best.input] < best.below ? smaller : other).push_back(s);
                grow(smaller, depth - 1, tree);
                tree.nodes[own].otherwise = tree.nodes.size();
                grow(other, depth - 1, tree);
                return;
            }
        }
        const std::vector<double> solved = all.solve();
        machine::CostNode leaf{.input = std::nullopt, .constant = solved[0], .slopes = {}};
        for (size_t i = 0; i < inputs_; ++i) leaf.slopes.push_back(solved[i + 1] / scale_[i]);
        tree.nodes.push_back(std::move(leaf));
    }

    Decision best_decision(const Indices& samples, const Moments& all) const {
        const size_t least = kSamplesOfCoefficient * (inputs_ + 1);
        Decision best;
        if (samples.size() < 2 * least) return best;
        for (size_t input = 0; input < inputs_; ++input) {
            Indices sorted = samples;
            const auto value = [&](size_t place) { return samples_[sorted[place]].inputs[input]; };
            std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
                return samples_[a].inputs[input] < samples_[b].inputs[input];
            });
            Indices places;  // the first sample of the other side
            for (size_t p = least; p + least <= sorted.size(); ++p)
                if (value(p - 1) < value(p)) places.push_back(p);
            // First a few places, then all around the best of them.
            const size_t step = std::max<size_t>(1, (places.size() + kMostPlaces - 1) / kMostPlaces);
            std::optional<size_t> found;
            const auto try_places = [&](size_t first, size_t last, size_t by) {
                Moments smaller(inputs_), other = all;
                size_t moved = 0;
                for (size_t p = first; p < last; p += by) {
                    for (; moved < places[p]; ++moved) {
                        smaller.add(rows_[sorted[moved]], 1);
                        other.add(rows_[sorted[moved]], -1);
                    }
                    const double rest = smaller.rest() + other.rest();
                    if (rest >= best.rest) continue;
                    best = {rest, input, value(moved - 1) + (value(moved) - value(moved - 1)) / 2};
                    found = p;
                }
            };
            try_places(0, places.size(), step);
            if (found && step > 1) {
                const size_t middle = *found;
                try_places(middle - std::min(middle, step - 1), std::min(places.size(), middle + step), 1);
            }
        }
        return best;
    }

    const std::vector<CostSample>& samples_;
    size_t inputs_;
    std::vector<double> scale_;
    std::vector<std::vector<double>> rows_;
};

/// A part for each sample, the same in every run, whatever the order of a table means.
size_t fold_of(size_t sample) {
    uint64_t mixed = (sample + 1) * 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9ULL;
    return static_cast<size_t>((mixed >> 32) % kFolds);
}

FitErrors cross_validate(const std::vector<CostSample>& samples, const TreeFit& fit, size_t depth) {
    std::vector<double> errors;
    for (size_t fold = 0; fold < kFolds; ++fold) {
        Indices seen, unseen;
        for (size_t s = 0; s < samples.size(); ++s) (fold_of(s) == fold ? unseen : seen).push_back(s);
        if (unseen.empty() || seen.empty()) continue;
        const LinearTree tree = fit.fit(seen, depth);
        for (const size_t s : unseen)
            errors.push_back(
                std::abs(machine::cycles_by(tree.nodes, samples[s].inputs) / samples[s].cycles - 1));
    }
    std::sort(errors.begin(), errors.end());
    return {.median = errors[errors.size() / 2],
            .mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()),
            .largest = errors.back()};
}

FittedTree fit_with_depth(const std::vector<CostSample>& samples, size_t most_depth) {
    const TreeFit fit(samples);
    size_t best_depth = 0;
    FitErrors best = cross_validate(samples, fit, 0);
    for (size_t depth = 1; depth <= most_depth && best.mean > kExact; ++depth) {
        const FitErrors errors = cross_validate(samples, fit, depth);
        if (errors.mean >= kDeeper * best.mean) continue;
        best = errors;
        best_depth = depth;
    }
    Indices all(samples.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return {fit.fit(all, best_depth), best};
}

}  // namespace

double predict(const LinearTree& tree, const std::vector<double>& inputs) {
    return machine::cycles_by(tree.nodes, inputs);
}

FittedTree fit_linear_tree(const std::vector<CostSample>& samples) {
    return fit_with_depth(samples, kMostDepth);
}

FittedTree fit_line(const std::vector<CostSample>& samples) {
    return fit_with_depth(samples, 0);
}

}  // namespace tessera::chip
