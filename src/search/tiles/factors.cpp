// A chain of tiles is a factor: ceil(M / m3) ceil(m3 / m2) ceil(m2 / m1) m1. Its least value over a box of
// domains is bounded by taking every ceil at its own best corner, or by ceil(a / b) >= a / b, so that sizes
// cancel: m3 and m2 vanish, and ceil(M / m3) m3 remains, the padded size, which is never below M. Neither is
// always better, nor for all pairs at once, and the largest of the bounds holds: every choice of pairs to
// replace is a relaxation. Before that, neighbours may be joined (join_chains.cpp). The part of a relaxation
// about one variable is a function of it alone, whose least value over a range is exact.
#include "search/tiles/factors.h"

#include <algorithm>
#include <cmath>

#include "search/tiles/trip_count.h"

namespace tessera::tiles {
namespace {

// All subsets of four pairs, which a chain through five levels has; of more each pair by itself and all
// others; of very many only all and none.
constexpr size_t kMostPairsOfSubsets = 4;
constexpr size_t kMostPairsOfSingles = 12;
// Numbers in tables: beyond so many, a factor has no further relaxation.
constexpr size_t kMostTableNumbers = 20'000'000;
// Binary digits: products of functions stay below 2^1024, so that no bound becomes infinite by rounding.
constexpr double kMostBoundDigits = 1000;

double power_of(double base, int exponent) {
    double result = 1;
    for (int i = std::abs(exponent); i > 0; --i) result *= base;
    return exponent < 0 ? 1 / result : result;
}

double trips_at(const ConstantTrip& trip, int64_t value) {
    return trip.is_above ? trip_count(value, trip.number) : trip_count(trip.number, value);
}

RangeMinimum table_of(const std::vector<int64_t>& values, int exponent,
                      const std::vector<ConstantTrip>& trips) {
    std::vector<double> table;
    table.reserve(values.size());
    for (const int64_t value : values) {
        double product = power_of(static_cast<double>(value), exponent);
        for (const ConstantTrip& trip : trips) product *= trips_at(trip, value);
        table.push_back(product);
    }
    return RangeMinimum(std::move(table));
}

/// The pairs that each relaxation keeps. The first keeps all.
std::vector<std::vector<bool>> kept_pairs(size_t pairs, bool cancel_chains) {
    std::vector<std::vector<bool>> result = {std::vector<bool>(pairs, true)};
    if (!cancel_chains || pairs == 0) return result;
    if (pairs <= kMostPairsOfSubsets) {
        for (size_t replaced = 1; replaced < size_t{1} << pairs; ++replaced) {
            result.emplace_back();
            for (size_t p = 0; p < pairs; ++p) result.back().push_back((replaced >> p & 1) == 0);
        }
        return result;
    }
    result.emplace_back(pairs, false);
    if (pairs > kMostPairsOfSingles) return result;
    for (size_t p = 0; p < pairs; ++p) {
        result.emplace_back(pairs, true);
        result.back()[p] = false;
        result.emplace_back(pairs, false);
        result.back()[p] = true;
    }
    return result;
}

}  // namespace

size_t FactorTable::function(const FunctionKey& key) {
    const auto [at, is_new] = functions_.try_emplace(key, form_.functions.size());
    if (is_new) {
        const auto& [variable, exponent, trips] = key;
        table_numbers_ += form_.variables[variable].values.size();
        form_.functions.push_back({variable, table_of(form_.variables[variable].values, exponent, trips)});
    }
    return at->second;
}

Relaxation FactorTable::relaxation(const Chain& chain, const std::vector<bool>& is_kept) {
    Relaxation result{chain.scale, {}, {}};
    std::map<size_t, int> cancelled;
    for (size_t p = 0; p < chain.pairs.size(); ++p) {
        if (is_kept[p]) {
            result.kept.push_back(chain.pairs[p]);
        } else {
            ++cancelled[chain.pairs[p].a];
            --cancelled[chain.pairs[p].b];
        }
    }
    for (auto [variable, exponent, trips] : chain.parts) {
        exponent += cancelled[variable];
        if (exponent != 0 || !trips.empty())
            result.functions.push_back(function({variable, exponent, trips}));
    }
    return result;
}

bool FactorTable::is_in_range(const Relaxation& relaxation) const {
    double digits = std::log2(relaxation.scale);
    for (const size_t f : relaxation.functions) {
        const Function& function = form_.functions[f];
        const size_t last = form_.variables[function.variable].values.size() - 1;
        double most = 0;
        for (size_t i = 0; i <= last; ++i) most = std::max(most, function.table.at(i));
        if (!std::isfinite(most)) return false;
        if (most > 1) digits += std::log2(most);
    }
    for (const auto& [a, b] : relaxation.kept)
        digits += std::log2(static_cast<double>(std::max<int64_t>(form_.variables[a].values.back(), 1)));
    return digits < kMostBoundDigits;
}

size_t FactorTable::factor(const std::vector<size_t>& variables, const Product& product) {
    Chain chain;
    for (const size_t v : variables) {
        const auto exponent = product.exponents.find(v);
        const auto trips = product.trips.find(v);
        chain.parts.emplace_back(v, exponent == product.exponents.end() ? 0 : exponent->second,
                                 trips == product.trips.end() ? std::vector<ConstantTrip>() : trips->second);
        std::sort(std::get<2>(chain.parts.back()).begin(), std::get<2>(chain.parts.back()).end());
    }
    for (const VariablePair& pair : product.pairs)
        if (std::binary_search(variables.begin(), variables.end(), pair.a)) chain.pairs.push_back(pair);
    std::sort(chain.pairs.begin(), chain.pairs.end());
    const auto [at, is_new] = factors_.try_emplace(chain, form_.factors.size());
    if (!is_new) return at->second;
    Factor made{.variables = variables, .pairs = chain.pairs, .relaxations = {}};
    for (const Chain& each : joins_trips_ ? joined_chains(chain) : std::vector<Chain>{chain})
        for (const std::vector<bool>& kept : kept_pairs(each.pairs.size(), cancel_chains_)) {
            if (!made.relaxations.empty() && table_numbers_ > kMostTableNumbers) break;
            Relaxation next = relaxation(each, kept);
            if (made.relaxations.empty() || is_in_range(next)) made.relaxations.push_back(std::move(next));
        }
    form_.factors.push_back(std::move(made));
    return at->second;
}

size_t FactorTable::factor_of(const Table& table) {
    // The places in the domains of the values that multiples of constants leave.
    std::vector<std::vector<size_t>> left;
    size_t numbers = 1;
    for (const size_t v : table.variables) {
        const std::vector<int64_t>& domain = problem_.variables[v].domain;
        std::vector<size_t>& places = left.emplace_back();
        for (const int64_t value : form_.variables[v].values)
            places.push_back(static_cast<size_t>(std::ranges::lower_bound(domain, value) - domain.begin()));
        numbers *= places.size();
    }
    BoxTable made{.strides = std::vector<size_t>(left.size(), 1), .numbers = {}};
    for (size_t i = left.size(); i-- > 1;) made.strides[i - 1] = made.strides[i] * left[i].size();
    for (size_t at = 0; at < numbers; ++at) {
        size_t place = 0;
        for (size_t i = 0; i < left.size(); ++i)
            place = place * problem_.variables[table.variables[i]].domain.size() +
                    left[i][at / made.strides[i] % left[i].size()];
        made.numbers.push_back(table.numbers[place]);
    }
    form_.factors.push_back(
        {.variables = table.variables, .pairs = {}, .relaxations = {}, .table = std::move(made)});
    return form_.factors.size() - 1;
}

std::vector<size_t> FactorTable::factors_of(const Product& product) {
    // Variables that pairs connect belong to one factor: each points towards the root of its tree.
    std::map<size_t, size_t> parent;
    for (const auto& [v, exponent] : product.exponents) parent.emplace(v, v);
    for (const auto& [v, trips] : product.trips) parent.emplace(v, v);
    for (const VariablePair& pair : product.pairs) {
        parent.emplace(pair.a, pair.a);
        parent.emplace(pair.b, pair.b);
    }
    const auto root = [&](size_t v) {
        while (parent.at(v) != v) v = parent.at(v);
        return v;
    };
    for (const VariablePair& pair : product.pairs) parent[root(pair.a)] = root(pair.b);
    std::map<size_t, std::vector<size_t>> parts;
    for (const auto& [v, unused] : parent) parts[root(v)].push_back(v);
    std::vector<size_t> result;
    for (const auto& [unused, variables] : parts) result.push_back(factor(variables, product));
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace tessera::tiles
