#include "search/tiles/box_bounds.h"

#include <algorithm>
#include <limits>

#include "search/tiles/touches.h"
#include "search/tiles/trip_count.h"

namespace tessera::tiles {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The limit on values of a factor that are tried; as many as relaxations would take.
constexpr int64_t kSmallSet = 16;

}  // namespace

BoxBounds::BoxBounds(const NormalForm& form, bool try_small_sets)
    : form_(form), try_small_sets_(try_small_sets) {
    functions_of_.resize(form.variables.size());
    factors_of_.resize(form.variables.size());
    for (size_t f = 0; f < form.functions.size(); ++f) functions_of_[form.functions[f].variable].push_back(f);
    for (size_t f = 0; f < form.factors.size(); ++f)
        for (const size_t v : form.factors[f].variables) factors_of_[v].push_back(f);
    for (size_t s = 0; s < form.sums.size(); ++s) touches_.push_back(touches_of(form, s));
    for (const NormalVariable& variable : form.variables) {
        present_.emplace_back(static_cast<size_t>(variable.classes), char{0});
        named_before_.emplace_back(1, 0);
        for (const int of_class : variable.class_of)
            named_before_.back().push_back(named_before_.back().back() + (of_class < variable.named ? 1 : 0));
    }
    functions_.resize(form.functions.size());
    factors_.resize(form.factors.size());
    tried_.resize(form.variables.size());
    size_t most_terms = 0;
    for (const NormalSum& sum : form.sums) most_terms = std::max(most_terms, sum.terms.size());
    terms_.resize(most_terms);
    for (const NormalSum& sum : form.sums) {
        sums_.emplace_back();
        for (const Cluster& cluster : sum.clusters)
            sums_.back().clusters.push_back({0, std::vector<double>(cluster.combinations())});
    }
}

void BoxBounds::set_range(size_t variable, Range range) {
    box_[variable] = range;
    const NormalVariable& of = form_.variables[variable];
    std::vector<char>& present = present_[variable];
    if (of.classes == 1) {
        present[0] = 1;
        return;
    }
    std::fill(present.begin(), present.end(), char{0});
    const std::vector<int32_t>& named = named_before_[variable];
    const auto first = static_cast<size_t>(range.first), last = static_cast<size_t>(range.last);
    if (named[last + 1] - named[first] < range.size()) present.back() = 1;
    // Classes of single values are numbered in the order of the values.
    for (int32_t c = named[first]; c < named[last + 1]; ++c) present[static_cast<size_t>(c)] = 1;
}

void BoxBounds::load(const Box& box) {
    box_ = box;
    for (size_t v = 0; v < box.size(); ++v) set_range(v, box[v]);
    const auto least = [&](const Function& function) {
        const Range range = box_[function.variable];
        return function.table.least(static_cast<size_t>(range.first), static_cast<size_t>(range.last));
    };
    for (size_t f = 0; f < functions_.size(); ++f) functions_[f] = least(form_.functions[f]);
    for (size_t f = 0; f < factors_.size(); ++f) factors_[f] = factor_bound(form_.factors[f]);
}

void BoxBounds::narrow(size_t variable, Range range) {
    set_range(variable, range);
    for (const size_t f : functions_of_[variable])
        functions_[f] =
            form_.functions[f].table.least(static_cast<size_t>(range.first), static_cast<size_t>(range.last));
    for (const size_t f : factors_of_[variable]) factors_[f] = factor_bound(form_.factors[f]);
}

double BoxBounds::factor_bound(const Factor& factor) {
    if (factor.table) return least_of_table(factor, 0, 0);
    if (try_small_sets_ && !factor.pairs.empty()) {
        int64_t combinations = 1;
        for (const size_t v : factor.variables) {
            combinations *= box_[v].size();
            if (combinations > kSmallSet) break;
        }
        if (combinations <= kSmallSet) return exact_bound(factor);
    }
    double best = 0;
    for (const Relaxation& relaxation : factor.relaxations) {
        double product = relaxation.scale;
        for (const size_t f : relaxation.functions) product *= functions_[f];
        for (const auto& [a, b] : relaxation.kept) {
            product *= trip_count(form_.variables[a].values[static_cast<size_t>(box_[a].first)],
                                  form_.variables[b].values[static_cast<size_t>(box_[b].last)]);
        }
        best = std::max(best, product);
    }
    return best;
}

double BoxBounds::least_of_table(const Factor& factor, size_t at, size_t place) const {
    if (at == factor.variables.size()) return factor.table->numbers[place];
    const Range range = box_[factor.variables[at]];
    double best = kInfinity;
    for (int32_t i = range.first; i <= range.last; ++i)
        best = std::min(
            best, least_of_table(factor, at + 1, place + static_cast<size_t>(i) * factor.table->strides[at]));
    return best;
}

double BoxBounds::exact_bound(const Factor& factor) {
    const Relaxation& exact = factor.relaxations.front();
    const auto index = [&](size_t v) { return static_cast<size_t>(tried_[v]); };
    for (const size_t v : factor.variables) tried_[v] = box_[v].first;
    double best = kInfinity;
    for (bool is_done = false; !is_done;) {
        double product = 1;
        for (const size_t f : exact.functions)
            product *= form_.functions[f].table.at(index(form_.functions[f].variable));
        for (const auto& [a, b] : factor.pairs)
            product *= trip_count(form_.variables[a].values[index(a)], form_.variables[b].values[index(b)]);
        best = std::min(best, product);
        is_done = true;
        for (const size_t v : factor.variables) {
            if (tried_[v] < box_[v].last) {
                ++tried_[v];
                is_done = false;
                break;
            }
            tried_[v] = box_[v].first;
        }
    }
    return best;
}

double BoxBounds::term_bound(size_t sum, size_t term) const {
    const NormalTerm& of = form_.sums[sum].terms[term];
    double product = of.coefficient;
    for (const size_t f : of.factors) product *= factors_[f];
    return product;
}

double BoxBounds::unconditional_bound(size_t sum) const {
    double total = 0;
    for (const size_t t : form_.sums[sum].unconditional) total += term_bound(sum, t);
    return total;
}

bool BoxBounds::holds(const LoneTerm& lone) const {
    for (size_t i = 0; i < lone.variables.size(); ++i) {
        const std::vector<char>& present = present_[lone.variables[i]];
        if (!has_class(lone.variables[i], lone.classes[i]) ||
            std::count(present.begin(), present.end(), char{1}) != 1)
            return false;
    }
    return true;
}

double BoxBounds::lone_bound(size_t sum) const {
    double total = 0;
    for (const LoneTerm& lone : form_.sums[sum].lone)
        if (holds(lone)) total += term_bound(sum, lone.term);
    return total;
}

/// True if the box holds a value of each class of the combination.
bool BoxBounds::is_left(const Cluster& cluster, size_t combination) const {
    const size_t width = cluster.scope.size();
    for (size_t i = 0; i < width; ++i)
        if (!has_class(cluster.scope[i], cluster.classes[combination * width + i])) return false;
    return true;
}

double BoxBounds::total_of(const Cluster& cluster, size_t combination) const {
    double total = 0;
    for (const size_t t : cluster.holding[combination]) total += terms_[t];
    return total;
}

void BoxBounds::refresh_cluster(size_t sum, size_t cluster_index) {
    const Cluster& cluster = form_.sums[sum].clusters[cluster_index];
    ClusterState& state = sums_[sum].clusters[cluster_index];
    for (const size_t t : cluster.terms) terms_[t] = term_bound(sum, t);
    state.least = kInfinity;
    for (size_t c = 0; c < cluster.combinations(); ++c) {
        state.totals[c] = is_left(cluster, c) ? total_of(cluster, c) : kInfinity;
        state.least = std::min(state.least, state.totals[c]);
    }
}

/// The cheapest combination of a box within the refreshed one. No total is smaller there, so most
/// combinations are ruled out before they are added up.
double BoxBounds::least_within(size_t sum, size_t cluster_index) {
    const Cluster& cluster = form_.sums[sum].clusters[cluster_index];
    const std::vector<double>& totals = sums_[sum].clusters[cluster_index].totals;
    for (const size_t t : cluster.terms) terms_[t] = term_bound(sum, t);
    double best = kInfinity;
    for (size_t c = 0; c < totals.size(); ++c)
        if (totals[c] < best && is_left(cluster, c)) best = std::min(best, total_of(cluster, c));
    return best;
}

void BoxBounds::least_of_classes(size_t sum, size_t cluster_index,
                                 std::vector<std::vector<double>>& least) const {
    const Cluster& cluster = form_.sums[sum].clusters[cluster_index];
    const std::vector<double>& totals = sums_[sum].clusters[cluster_index].totals;
    const size_t width = cluster.scope.size();
    least.resize(width);
    for (size_t i = 0; i < width; ++i)
        least[i].assign(static_cast<size_t>(form_.variables[cluster.scope[i]].classes), kInfinity);
    for (size_t c = 0; c < totals.size(); ++c)
        for (size_t i = 0; i < width; ++i) {
            double& known = least[i][static_cast<size_t>(cluster.classes[c * width + i])];
            known = std::min(known, totals[c]);
        }
}

double BoxBounds::bound_without(size_t sum, size_t cluster) const {
    const SumState& state = sums_[sum];
    double total = state.unconditional + state.lone;
    for (size_t c = 0; c < state.clusters.size(); ++c)
        if (c != cluster) total += state.clusters[c].least;
    return total;
}

void BoxBounds::refresh(size_t sum) {
    SumState& state = sums_[sum];
    state.unconditional = unconditional_bound(sum);
    state.lone = lone_bound(sum);
    state.bound = state.unconditional + state.lone;
    for (size_t c = 0; c < state.clusters.size(); ++c) {
        refresh_cluster(sum, c);
        state.bound += state.clusters[c].least;
    }
}

double BoxBounds::bound_within(size_t sum, const Touch& touch, Range range) {
    const Range before = box_[touch.variable];
    saved_.clear();
    for (const size_t f : touch.functions) saved_.push_back(functions_[f]);
    for (const size_t f : touch.factors) saved_.push_back(factors_[f]);
    const auto touched_terms = [&] {
        double total = 0;
        for (const size_t t : touch.unconditional) total += term_bound(sum, t);
        return total;
    };
    const double terms_before = touched_terms();
    set_range(touch.variable, range);
    for (const size_t f : touch.functions)
        functions_[f] =
            form_.functions[f].table.least(static_cast<size_t>(range.first), static_cast<size_t>(range.last));
    for (const size_t f : touch.factors) factors_[f] = factor_bound(form_.factors[f]);

    const SumState& state = sums_[sum];
    // No bound falls, so the difference is as exact as the sums.
    double bound = state.unconditional + std::max(touched_terms() - terms_before, 0.0) +
                   (touch.lone.empty() ? state.lone : lone_bound(sum));
    auto touched = touch.clusters.begin();
    for (size_t c = 0; c < state.clusters.size(); ++c) {
        const bool is_touched = touched != touch.clusters.end() && *touched == c;
        bound += is_touched ? least_within(sum, c) : state.clusters[c].least;
        if (is_touched) ++touched;
    }

    set_range(touch.variable, before);
    auto saved = saved_.begin();
    for (const size_t f : touch.functions) functions_[f] = *saved++;
    for (const size_t f : touch.factors) factors_[f] = *saved++;
    return bound;
}

}  // namespace tessera::tiles
