// A sum has a lower bound over the box and a limit: its own, or the cost of the best assignment so far. Where
// the bound would exceed the limit if a variable kept to one end of its domain, that end is cut:
//
//     m1:  8 16 24 32 | 40 48 56 64      with m1 in 40 .. 64 alone, L1 would need at least 33,000 bytes
//
// All sums that a cut concerns are looked at again, until nothing changes.
#include "search/tiles/propagate.h"

#include <algorithm>
#include <limits>

namespace tessera::tiles {
namespace {

// Sums may cut each other's domains one value at a time; after this many rounds the search branches instead.
constexpr int kMostRounds = 20;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

Propagator::Propagator(const NormalForm& form, const Options& options)
    : form_(form),
      cuts_ends_(options.cut_ends),
      bounds_(form, options.try_small_sets),
      limits_(form.limits),
      rules_of_(form.variables.size()),
      is_waiting_(form.sums.size() + form.pairs.size()) {
    limits_.resize(form.sums.size(), kNoLimit);
    const auto add = [&](size_t variable, size_t rule) {
        std::vector<size_t>& rules = rules_of_[variable];
        if (rules.empty() || rules.back() != rule) rules.push_back(rule);
    };
    for (size_t s = 0; s < form.sums.size(); ++s) {
        for (const Touch& touch : bounds_.touches(s)) add(touch.variable, s);
        for (const Cluster& cluster : form.sums[s].clusters)
            for (const size_t v : cluster.scope) add(v, s);
        for (const LoneTerm& lone : form.sums[s].lone)
            for (const size_t v : lone.variables) add(v, s);
    }
    for (size_t p = 0; p < form.pairs.size(); ++p) {
        add(form.pairs[p].a, form.sums.size() + p);
        add(form.pairs[p].b, form.sums.size() + p);
        support_[0].emplace_back(form.variables[form.pairs[p].a].values.size(), 0);
        support_[1].emplace_back(form.variables[form.pairs[p].b].values.size(), 0);
    }
}

void Propagator::set_cost_limit(double limit) {
    std::fill(limits_.begin() + static_cast<std::ptrdiff_t>(form_.limits.size()), limits_.end(), limit);
}

std::optional<double> Propagator::run(Box& box) {
    bounds_.load(box);
    std::fill(is_waiting_.begin(), is_waiting_.end(), char{1});
    bool has_changed = true;
    for (int round = 0; round < kMostRounds && has_changed; ++round) {
        has_changed = false;
        for (size_t rule = 0; rule < is_waiting_.size(); ++rule) {
            if (is_waiting_[rule] == 0) continue;
            has_changed = true;
            is_waiting_[rule] = 0;
            if (!settle(rule)) {
                culprit_ = rule;
                return std::nullopt;
            }
        }
    }
    double bound = 0;
    for (size_t s = form_.limits.size(); s < form_.sums.size(); ++s) {
        bounds_.refresh(s);
        bound = std::max(bound, bounds_.bound(s));
    }
    box = bounds_.box();
    return bound;
}

void Propagator::narrow(size_t variable, Range range) {
    bounds_.narrow(variable, range);
    for (const size_t rule : rules_of_[variable]) is_waiting_[rule] = 1;
}

bool Propagator::settle(size_t rule) {
    return rule < form_.sums.size() ? settle_sum(rule) : settle_multiple(rule - form_.sums.size());
}

bool Propagator::settle_sum(size_t sum) {
    bounds_.refresh(sum);
    if (bounds_.bound(sum) > limits_[sum]) return false;
    if (limits_[sum] == kNoLimit) return bounds_.bound(sum) < kNoLimit;
    if (!cut_by_classes(sum) || !cut_by_lone_terms(sum)) return false;
    if (!cuts_ends_) return true;
    for (const Touch& touch : bounds_.touches(sum))
        if (!cut_ends(sum, touch)) return false;
    return true;
}

/// Cuts ends of the domain whose class no combination below the limit has.
bool Propagator::cut_by_classes(size_t sum) {
    const std::vector<Cluster>& clusters = form_.sums[sum].clusters;
    for (size_t c = 0; c < clusters.size(); ++c) {
        const Cluster& cluster = clusters[c];
        bounds_.least_of_classes(sum, c, least_);
        const double others = bounds_.bound_without(sum, c);
        bool has_changed = false;
        for (size_t i = 0; i < cluster.scope.size(); ++i) {
            const size_t v = cluster.scope[i];
            const std::vector<int>& class_of = form_.variables[v].class_of;
            const Range old = bounds_.box()[v];
            Range range = old;
            const auto is_excluded = [&](int32_t index) {
                const auto of_class = static_cast<size_t>(class_of[static_cast<size_t>(index)]);
                return others + least_[i][of_class] > limits_[sum];
            };
            while (range.first <= range.last && is_excluded(range.first)) ++range.first;
            while (range.first <= range.last && is_excluded(range.last)) --range.last;
            if (range.first > range.last) return false;
            if (range == old) continue;
            narrow(v, range);
            has_changed = true;
        }
        if (has_changed) bounds_.refresh(sum);
    }
    return true;
}

/// The last open condition of a term that is too dear cannot hold.
bool Propagator::cut_by_lone_terms(size_t sum) {
    for (const LoneTerm& lone : form_.sums[sum].lone) {
        std::optional<size_t> open;
        bool is_possible = true;
        int count = 0;
        for (size_t i = 0; i < lone.variables.size(); ++i) {
            is_possible = is_possible && bounds_.has_class(lone.variables[i], lone.classes[i]);
            if (bounds_.box()[lone.variables[i]].is_single()) continue;
            open = i;
            ++count;
        }
        if (!is_possible || count != 1) continue;
        if (bounds_.bound(sum) + bounds_.term_bound(sum, lone.term) <= limits_[sum]) continue;
        const size_t v = lone.variables[*open];
        const std::vector<int>& class_of = form_.variables[v].class_of;
        const Range old = bounds_.box()[v];
        Range range = old;
        if (class_of[static_cast<size_t>(range.first)] == lone.classes[*open]) ++range.first;
        if (class_of[static_cast<size_t>(range.last)] == lone.classes[*open]) --range.last;
        if (range.first > range.last) return false;
        if (range == old) continue;
        narrow(v, range);
        bounds_.refresh(sum);
    }
    return true;
}

bool Propagator::cut_ends(size_t sum, const Touch& touch) {
    const Range old = bounds_.box()[touch.variable];
    if (old.is_single()) return true;
    Range range = old;
    const auto is_excluded = [&](Range part) {
        return bounds_.bound_within(sum, touch, part) > limits_[sum];
    };
    // The end itself, then twice as many values each time, then bisection between what is excluded and what
    // is not. The bound of a part grows as the part shrinks.
    if (touch.may_cut_last && is_excluded({range.last, range.last})) {
        int32_t out = range.last, step = 1;  // out .. last is excluded
        int32_t in = range.first - 1;        // in .. last is not, or nothing is left
        while (out - step > in) {
            if (!is_excluded({out - step, range.last})) {
                in = out - step;
                break;
            }
            out -= step;
            step *= 2;
        }
        while (out - in > 1) {
            const int32_t middle = in + (out - in) / 2;
            (is_excluded({middle, range.last}) ? out : in) = middle;
        }
        range.last = out - 1;
        if (range.last < range.first) return false;
    }
    if (touch.may_cut_first && is_excluded({range.first, range.first})) {
        int32_t out = range.first, step = 1;
        int32_t in = range.last + 1;
        while (out + step < in) {
            if (!is_excluded({range.first, out + step})) {
                in = out + step;
                break;
            }
            out += step;
            step *= 2;
        }
        while (in - out > 1) {
            const int32_t middle = out + (in - out) / 2;
            (is_excluded({range.first, middle}) ? out : in) = middle;
        }
        range.first = out + 1;
        if (range.first > range.last) return false;
    }
    if (range == old) return true;
    narrow(touch.variable, range);
    bounds_.refresh(sum);
    return true;
}

bool Propagator::has_support(size_t pair, bool of_a, int32_t index) {
    const auto [a, b] = form_.pairs[pair];
    const std::vector<int64_t>& own = form_.variables[of_a ? a : b].values;
    const std::vector<int64_t>& other = form_.variables[of_a ? b : a].values;
    const Range range = bounds_.box()[of_a ? b : a];
    const int64_t value = own[static_cast<size_t>(index)];
    const auto fits = [&](int32_t i) {
        const int64_t partner = other[static_cast<size_t>(i)];
        return of_a ? value % partner == 0 : partner % value == 0;
    };
    int32_t& last = support_[of_a ? 0 : 1][pair][static_cast<size_t>(index)];
    if (last >= range.first && last <= range.last && fits(last)) return true;
    for (int32_t i = range.first; i <= range.last; ++i)
        if (fits(i)) {
            last = i;
            return true;
        }
    return false;
}

/// Cuts ends that are no multiple of anything, or of which nothing is.
bool Propagator::settle_multiple(size_t pair) {
    for (const bool of_a : {true, false}) {
        const size_t v = of_a ? form_.pairs[pair].a : form_.pairs[pair].b;
        const Range old = bounds_.box()[v];
        Range range = old;
        while (range.first <= range.last && !has_support(pair, of_a, range.first)) ++range.first;
        while (range.first <= range.last && !has_support(pair, of_a, range.last)) --range.last;
        if (range.first > range.last) return false;
        if (range != old) narrow(v, range);
    }
    return true;
}

}  // namespace tessera::tiles
