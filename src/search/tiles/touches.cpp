#include "search/tiles/touches.h"

#include <algorithm>
#include <set>

namespace tessera::tiles {
namespace {

bool contains(const std::vector<size_t>& of, size_t item) {
    return std::find(of.begin(), of.end(), item) != of.end();
}

/// The factors of a sum.
std::set<size_t> factors_in(const NormalSum& sum) {
    std::set<size_t> result;
    for (const NormalTerm& term : sum.terms) result.insert(term.factors.begin(), term.factors.end());
    return result;
}

/// Notes whether larger, or smaller, values of the variable can make the bound of the factor larger.
void add_directions(const NormalForm& form, const Factor& factor, Touch& touch) {
    if (factor.table || !factor.pairs.empty()) {
        touch.may_cut_first = touch.may_cut_last = true;
        return;
    }
    for (const size_t f : factor.relaxations.front().functions) {
        if (form.functions[f].variable != touch.variable) continue;
        touch.may_cut_last = touch.may_cut_last || !form.functions[f].table.is_falling();
        touch.may_cut_first = touch.may_cut_first || !form.functions[f].table.is_rising();
    }
}

Touch touch_of(const NormalForm& form, const NormalSum& sum, const std::set<size_t>& factors,
               size_t variable) {
    Touch touch{.variable = variable};
    std::set<size_t> functions;
    std::vector<char> has_variable(form.factors.size());
    for (const size_t f : factors) {
        const Factor& factor = form.factors[f];
        if (!contains(factor.variables, variable)) continue;
        touch.factors.push_back(f);
        has_variable[f] = 1;
        add_directions(form, factor, touch);
        for (const Relaxation& relaxation : factor.relaxations)
            for (const size_t function : relaxation.functions)
                if (form.functions[function].variable == variable) functions.insert(function);
    }
    touch.functions.assign(functions.begin(), functions.end());
    const auto is_touched = [&](size_t t) {
        const std::vector<size_t>& of = sum.terms[t].factors;
        return std::any_of(of.begin(), of.end(), [&](size_t f) { return has_variable[f] != 0; });
    };
    for (const size_t t : sum.unconditional)
        if (is_touched(t)) touch.unconditional.push_back(t);
    for (size_t l = 0; l < sum.lone.size(); ++l)
        if (is_touched(sum.lone[l].term) || contains(sum.lone[l].variables, variable))
            touch.lone.push_back(l);
    for (size_t c = 0; c < sum.clusters.size(); ++c) {
        const Cluster& cluster = sum.clusters[c];
        const bool in_scope = contains(cluster.scope, variable);
        if (in_scope || std::any_of(cluster.terms.begin(), cluster.terms.end(), is_touched))
            touch.clusters.push_back(c);
        // A range without the class of the cheapest combination has a larger bound, at either end.
        touch.may_cut_first = touch.may_cut_first || in_scope;
        touch.may_cut_last = touch.may_cut_last || in_scope;
    }
    return touch;
}

}  // namespace

std::vector<Touch> touches_of(const NormalForm& form, size_t sum) {
    const std::set<size_t> factors = factors_in(form.sums[sum]);
    std::set<size_t> variables;
    for (const size_t f : factors)
        variables.insert(form.factors[f].variables.begin(), form.factors[f].variables.end());
    std::vector<Touch> result;
    for (const size_t v : variables) result.push_back(touch_of(form, form.sums[sum], factors, v));
    return result;
}

}  // namespace tessera::tiles
