// Buffers are placed by conditions, and they exclude each other: traffic of A is counted where A is kept in
// L2, or else where it is kept in L3, or else in memory. As long as the placement is open, counting none of
// them is a bound, and a poor one. The conditions of a sum are therefore grouped into clusters,
//
//     terms       if A2 = 1 | if A2 = 0, A3 = 1 | if A2 = 0, A3 = 0         if B2 = 1 | if B2 = 0
//     cluster     A2 A3: 00 01 10 11                                        B2: 0 1
//
// and each cluster counts its cheapest combination. Constraints that consist of conditions alone (at most one
// level, at least one level) join clusters and forbid combinations. Paper 000, eq. 12 and 13, are such.
#include "search/tiles/conditions.h"

#include <algorithm>
#include <iterator>

namespace tessera::tiles {
namespace {

// Combinations are gone through at every node of the search, so clusters grow only so far. A table of
// measured kernels, a term for each pair of register block sizes, is one scope and may be larger.
constexpr size_t kMostCombinations = 1024;
constexpr size_t kMostOfOneScope = 4096;

using Scope = std::vector<size_t>;

size_t combinations_of(const NormalForm& form, const Scope& scope) {
    size_t product = 1;
    for (const size_t v : scope) {
        product *= static_cast<size_t>(form.variables[v].classes);
        if (product > kMostOfOneScope) break;
    }
    return product;
}

Scope united(const Scope& a, const Scope& b) {
    Scope result;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
    return result;
}

bool share_variables(const Scope& a, const Scope& b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

bool is_within(const Scope& inner, const Scope& outer) {
    return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

Scope scope_of(const std::vector<ClassCondition>& conditions) {
    Scope scope;
    for (const ClassCondition& condition : conditions) scope.push_back(condition.variable);
    return scope;
}

/// A constraint whose terms are conditions alone.
struct PureConstraint {
    Scope scope;
    const NormalSum* sum = nullptr;
    const SumConditions* conditions = nullptr;
    double limit = 0;
};

std::vector<PureConstraint> pure_constraints(const NormalForm& form,
                                             const std::vector<SumConditions>& conditions) {
    std::vector<PureConstraint> result;
    for (size_t s = 0; s < form.limits.size(); ++s) {
        PureConstraint pure{{}, &form.sums[s], &conditions[s], form.limits[s]};
        bool is_pure = true;
        for (size_t t = 0; t < pure.sum->terms.size(); ++t) {
            is_pure = is_pure && pure.sum->terms[t].factors.empty();
            pure.scope = united(pure.scope, scope_of(conditions[s][t]));
        }
        if (is_pure && !pure.scope.empty() && combinations_of(form, pure.scope) <= kMostCombinations)
            result.push_back(std::move(pure));
    }
    return result;
}

/// Joins scopes that share variables, as far as they stay small.
std::vector<Scope> joined(const NormalForm& form, std::vector<Scope> scopes) {
    std::sort(scopes.begin(), scopes.end());
    scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
    std::stable_sort(scopes.begin(), scopes.end(),
                     [](const Scope& a, const Scope& b) { return a.size() > b.size(); });
    for (size_t before = scopes.size() + 1; before > scopes.size();) {
        before = scopes.size();
        std::vector<Scope> merged;
        for (const Scope& scope : scopes) {
            const auto host = std::find_if(merged.begin(), merged.end(), [&](const Scope& other) {
                if (is_within(scope, other)) return true;
                return share_variables(scope, other) &&
                       combinations_of(form, united(scope, other)) <= kMostCombinations;
            });
            if (host == merged.end())
                merged.push_back(scope);
            else
                *host = united(*host, scope);
        }
        scopes = std::move(merged);
    }
    return scopes;
}

bool holds(const std::vector<ClassCondition>& conditions, const Scope& scope,
           const std::vector<int>& classes) {
    return std::all_of(conditions.begin(), conditions.end(), [&](const ClassCondition& condition) {
        const auto at = std::lower_bound(scope.begin(), scope.end(), condition.variable);
        return classes[static_cast<size_t>(at - scope.begin())] == condition.of_class;
    });
}

bool is_allowed(const PureConstraint& pure, const Scope& scope, const std::vector<int>& classes) {
    double sum = 0;
    for (size_t t = 0; t < pure.sum->terms.size(); ++t)
        if (holds((*pure.conditions)[t], scope, classes)) sum += pure.sum->terms[t].coefficient;
    return sum <= pure.limit;
}

void enumerate(const NormalForm& form, const std::vector<PureConstraint>& pure,
               const SumConditions& conditions, Cluster& cluster) {
    std::vector<int> classes(cluster.scope.size(), 0);
    for (size_t left = combinations_of(form, cluster.scope); left > 0; --left) {
        const bool allowed = std::all_of(pure.begin(), pure.end(), [&](const PureConstraint& constraint) {
            return !is_within(constraint.scope, cluster.scope) ||
                   is_allowed(constraint, cluster.scope, classes);
        });
        if (allowed) {
            cluster.classes.insert(cluster.classes.end(), classes.begin(), classes.end());
            cluster.holding.emplace_back();
            for (const size_t t : cluster.terms)
                if (holds(conditions[t], cluster.scope, classes)) cluster.holding.back().push_back(t);
        }
        for (size_t i = 0; i < classes.size(); ++i) {
            if (++classes[i] < form.variables[cluster.scope[i]].classes) break;
            classes[i] = 0;
        }
    }
}

LoneTerm lone_term(size_t term, const std::vector<ClassCondition>& conditions) {
    LoneTerm lone{.term = term, .variables = scope_of(conditions)};
    for (const ClassCondition& condition : conditions) lone.classes.push_back(condition.of_class);
    return lone;
}

void form_clusters_of(const NormalForm& form, const std::vector<PureConstraint>& pure,
                      const SumConditions& conditions, NormalSum& sum) {
    std::vector<Scope> scopes;
    Scope all;
    for (size_t t = 0; t < sum.terms.size(); ++t) {
        if (conditions[t].empty()) continue;
        const Scope scope = scope_of(conditions[t]);
        if (combinations_of(form, scope) > kMostOfOneScope) {
            sum.lone.push_back(lone_term(t, conditions[t]));
            continue;
        }
        scopes.push_back(scope);
        all = united(all, scope);
    }
    for (const PureConstraint& constraint : pure)
        if (share_variables(constraint.scope, all)) scopes.push_back(constraint.scope);
    for (Scope& scope : joined(form, std::move(scopes))) sum.clusters.push_back({.scope = std::move(scope)});
    for (size_t t = 0; t < sum.terms.size(); ++t) {
        if (conditions[t].empty()) continue;
        const Scope scope = scope_of(conditions[t]);
        const auto host = std::find_if(sum.clusters.begin(), sum.clusters.end(), [&](const Cluster& cluster) {
            return is_within(scope, cluster.scope);
        });
        if (host != sum.clusters.end()) host->terms.push_back(t);
    }
    std::erase_if(sum.clusters, [](const Cluster& cluster) { return cluster.terms.empty(); });
    for (Cluster& cluster : sum.clusters) enumerate(form, pure, conditions, cluster);
}

}  // namespace

void form_clusters(NormalForm& form, const std::vector<SumConditions>& conditions, bool count_cheapest) {
    const std::vector<PureConstraint> pure = pure_constraints(form, conditions);
    for (size_t s = 0; s < form.sums.size(); ++s) {
        NormalSum& sum = form.sums[s];
        for (size_t t = 0; t < sum.terms.size(); ++t) {
            if (conditions[s][t].empty())
                sum.unconditional.push_back(t);
            else if (!count_cheapest)
                sum.lone.push_back(lone_term(t, conditions[s][t]));
        }
        if (count_cheapest) form_clusters_of(form, pure, conditions[s], sum);
    }
}

}  // namespace tessera::tiles
