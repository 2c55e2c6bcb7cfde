#include "search/tiles/normal_form.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "search/tiles/conditions.h"
#include "search/tiles/factors.h"
#include "search/tiles/trip_count.h"

namespace tessera::tiles {
namespace {

// Bounds and evaluation add in different orders; this is far more than they can differ by.
constexpr double kRounding = 1e-11;

/// A term with its constants folded into the coefficient.
struct Draft {
    double coefficient = 1;
    std::map<size_t, int64_t> conditions;
    Product product;
    std::vector<Table> tables;
};

/// The variables with what multiples of constants leave; the other pairs go into the form.
void filter_domains(const Problem& problem, NormalForm& form) {
    for (const Variable& variable : problem.variables) form.variables.push_back({.values = variable.domain});
    for (const Pair& pair : problem.multiples) {
        const auto* a = std::get_if<VariableIndex>(&pair.a);
        const auto* b = std::get_if<VariableIndex>(&pair.b);
        if (a != nullptr && b != nullptr) {
            if (a->index != b->index) form.pairs.push_back({a->index, b->index});
        } else if (a != nullptr) {
            const int64_t unit = std::get<int64_t>(pair.b);
            std::erase_if(form.variables[a->index].values, [&](int64_t v) { return v % unit != 0; });
        } else if (b != nullptr) {
            const int64_t whole = std::get<int64_t>(pair.a);
            std::erase_if(form.variables[b->index].values, [&](int64_t v) { return whole % v != 0; });
        } else if (std::get<int64_t>(pair.a) % std::get<int64_t>(pair.b) != 0) {
            form.is_infeasible = true;
        }
    }
    for (const NormalVariable& variable : form.variables)
        form.is_infeasible = form.is_infeasible || variable.values.empty();
}

/// The conditions of a term, those of variables that have one value left and of switches included. Empty if
/// they can never hold together.
std::optional<std::map<size_t, int64_t>> conditions_of(const Term& term, const NormalForm& form) {
    std::map<size_t, int64_t> result;
    for (const Condition& condition : term.conditions) {
        const std::vector<int64_t>& values = form.variables[condition.variable].values;
        if (!std::binary_search(values.begin(), values.end(), condition.value)) return std::nullopt;
        const auto [at, is_new] = result.emplace(condition.variable, condition.value);
        if (!is_new && at->second != condition.value) return std::nullopt;
    }
    for (const Power& power : term.powers)
        if (form.variables[power.variable].values == std::vector<int64_t>{0, 1} && power.exponent > 0) {
            const auto [at, is_new] = result.emplace(power.variable, 1);
            if (!is_new && at->second != 1) return std::nullopt;
        }
    return result;
}

class Drafter {
public:
    Drafter(const NormalForm& form, const std::map<size_t, int64_t>& conditions)
        : form_(form), draft_{.conditions = conditions} {}

    void multiply_by(double coefficient) { draft_.coefficient *= coefficient; }

    void multiply_by(const Power& power) {
        const std::optional<int64_t> known = value_of(power.variable);
        if (!known) {
            draft_.product.exponents[power.variable] += power.exponent;
            return;
        }
        const auto base = static_cast<double>(*known);
        for (int i = 0; i < power.exponent; ++i) draft_.coefficient *= base;
        for (int i = 0; i > power.exponent; --i) draft_.coefficient /= base;
    }

    void multiply_by(const Pair& trip) {
        const std::optional<int64_t> a = value_of(trip.a), b = value_of(trip.b);
        if (a && b) {
            draft_.coefficient *= trip_count(*a, *b);
        } else if (a) {
            draft_.product.trips[std::get<VariableIndex>(trip.b).index].push_back({false, *a});
        } else if (b) {
            draft_.product.trips[std::get<VariableIndex>(trip.a).index].push_back({true, *b});
        } else if (trip.a != trip.b) {
            draft_.product.pairs.push_back(
                {std::get<VariableIndex>(trip.a).index, std::get<VariableIndex>(trip.b).index});
        }
    }

    /// Without conditions that always hold.
    Draft take() {
        std::erase_if(draft_.conditions,
                      [&](const auto& of) { return form_.variables[of.first].values.size() == 1; });
        std::erase_if(draft_.product.exponents, [](const auto& of) { return of.second == 0; });
        return std::move(draft_);
    }

private:
    std::optional<int64_t> value_of(size_t variable) const {
        if (const auto at = draft_.conditions.find(variable); at != draft_.conditions.end())
            return at->second;
        const std::vector<int64_t>& values = form_.variables[variable].values;
        return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
    }
    std::optional<int64_t> value_of(const Operand& operand) const {
        if (const auto* variable = std::get_if<VariableIndex>(&operand)) return value_of(variable->index);
        return std::get<int64_t>(operand);
    }

    const NormalForm& form_;
    Draft draft_;
};

std::optional<Draft> draft_of(const Term& term, const NormalForm& form) {
    const auto conditions = conditions_of(term, form);
    if (!conditions) return std::nullopt;
    Drafter drafter(form, *conditions);
    drafter.multiply_by(term.coefficient);
    for (const Power& power : term.powers) drafter.multiply_by(power);
    for (const Pair& trip : term.trips) drafter.multiply_by(trip);
    Draft draft = drafter.take();
    draft.tables = term.tables;
    if (draft.coefficient == 0) return std::nullopt;
    return draft;
}

std::vector<Draft> drafts_of(const Sum& sum, const NormalForm& form) {
    std::vector<Draft> drafts;
    for (const Term& term : sum.terms)
        if (std::optional<Draft> draft = draft_of(term, form)) drafts.push_back(std::move(*draft));
    return drafts;
}

/// A class for each value that a condition names, and one for all others, if there are others.
void classify(const std::vector<std::vector<Draft>>& sums, NormalForm& form) {
    std::vector<std::set<int64_t>> named(form.variables.size());
    for (const std::vector<Draft>& drafts : sums)
        for (const Draft& draft : drafts)
            for (const auto& [v, value] : draft.conditions) named[v].insert(value);
    for (size_t v = 0; v < form.variables.size(); ++v) {
        NormalVariable& variable = form.variables[v];
        variable.named = static_cast<int>(named[v].size());
        int next = 0;
        for (const int64_t value : variable.values)
            variable.class_of.push_back(named[v].contains(value) ? next++ : variable.named);
        variable.classes = variable.named + (named[v].size() < variable.values.size() ? 1 : 0);
    }
}

std::vector<ClassCondition> classes_of(const Draft& draft, const NormalForm& form) {
    std::vector<ClassCondition> result;
    for (const auto& [v, value] : draft.conditions) {
        const NormalVariable& variable = form.variables[v];
        const auto at = std::lower_bound(variable.values.begin(), variable.values.end(), value);
        result.push_back({v, variable.class_of[static_cast<size_t>(at - variable.values.begin())]});
    }
    return result;
}

/// Terms that differ in the coefficient alone become one.
void add_sum(const std::vector<Draft>& drafts, FactorTable& factors, NormalForm& form,
             SumConditions& conditions) {
    std::map<std::pair<std::vector<ClassCondition>, std::vector<size_t>>, size_t> known;
    NormalSum sum;
    for (const Draft& draft : drafts) {
        NormalTerm term{draft.coefficient, factors.factors_of(draft.product)};
        for (const Table& table : draft.tables) term.factors.push_back(factors.factor_of(table));
        std::ranges::sort(term.factors);
        std::vector<ClassCondition> classes = classes_of(draft, form);
        const auto [at, is_new] = known.try_emplace({classes, term.factors}, sum.terms.size());
        if (!is_new) {
            sum.terms[at->second].coefficient += term.coefficient;
            continue;
        }
        sum.terms.push_back(std::move(term));
        conditions.push_back(std::move(classes));
    }
    form.sums.push_back(std::move(sum));
}

}  // namespace

NormalForm normal_form(const Problem& problem, const Options& options) {
    NormalForm form;
    filter_domains(problem, form);
    if (form.is_infeasible) return form;
    std::vector<std::vector<Draft>> drafts;
    for (const Constraint& constraint : problem.constraints) {
        drafts.push_back(drafts_of(constraint.sum, form));
        form.limits.push_back(constraint.most * (1 + kTolerance) * (1 + kRounding));
    }
    for (const Sum& sum : problem.objective) drafts.push_back(drafts_of(sum, form));
    classify(drafts, form);
    FactorTable factors(problem, form, options);
    std::vector<SumConditions> conditions(drafts.size());
    for (size_t s = 0; s < drafts.size(); ++s) add_sum(drafts[s], factors, form, conditions[s]);
    form_clusters(form, conditions, options.count_cheapest);
    return form;
}

}  // namespace tessera::tiles
