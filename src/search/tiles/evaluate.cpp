#include "search/tiles/evaluate.h"

#include <algorithm>

#include <fmt/core.h>

namespace tessera::tiles {
namespace {

int64_t number_of(const Operand& operand, const Assignment& values) {
    if (const auto* variable = std::get_if<VariableIndex>(&operand)) return values[variable->index];
    return std::get<int64_t>(operand);
}

std::string text_of(const Problem& problem, const Operand& operand, const Assignment& values) {
    const int64_t number = number_of(operand, values);
    if (const auto* variable = std::get_if<VariableIndex>(&operand))
        return fmt::format("{} = {}", problem.variables[variable->index].name, number);
    return fmt::format("{}", number);
}

double value_of(const Problem& problem, const Table& table, const Assignment& values) {
    size_t place = 0;
    for (const size_t v : table.variables) {
        const std::vector<int64_t>& domain = problem.variables[v].domain;
        place = place * domain.size() +
                static_cast<size_t>(std::ranges::lower_bound(domain, values[v]) - domain.begin());
    }
    return table.numbers[place];
}

double value_of(const Problem& problem, const Term& term, const Assignment& values) {
    for (const Condition& condition : term.conditions)
        if (values[condition.variable] != condition.value) return 0;
    double result = term.coefficient;
    for (const Power& power : term.powers) {
        const auto base = static_cast<double>(values[power.variable]);
        for (int i = 0; i < power.exponent; ++i) result *= base;
        for (int i = 0; i > power.exponent; --i) result /= base;
    }
    for (const Pair& pair : term.trips) {
        const int64_t a = number_of(pair.a, values), b = number_of(pair.b, values);
        const int64_t trips = a / b + (a % b == 0 ? 0 : 1);
        result *= static_cast<double>(trips);
    }
    for (const Table& table : term.tables) result *= value_of(problem, table, values);
    return result;
}

double value_of(const Problem& problem, const Sum& sum, const Assignment& values) {
    double total = 0;
    for (const Term& term : sum.terms) total += value_of(problem, term, values);
    return total;
}

void check_domains(const Problem& problem, const Assignment& values, std::vector<std::string>& broken) {
    if (values.size() != problem.variables.size())
        broken.push_back(
            fmt::format("there are {} values for {} variables", values.size(), problem.variables.size()));
    for (size_t v = 0; v < std::min(values.size(), problem.variables.size()); ++v) {
        const Variable& variable = problem.variables[v];
        if (std::find(variable.domain.begin(), variable.domain.end(), values[v]) == variable.domain.end())
            broken.push_back(fmt::format("{} = {} is not in its domain", variable.name, values[v]));
    }
}

}  // namespace

Evaluation evaluate(const Problem& problem, const Assignment& values) {
    Evaluation result;
    check_domains(problem, values, result.broken);
    if (!result.broken.empty()) return result;
    for (const Constraint& constraint : problem.constraints) {
        const double sum = value_of(problem, constraint.sum, values);
        result.constraints.push_back(sum);
        if (!(sum <= constraint.most * (1 + kTolerance)))
            result.broken.push_back(fmt::format("{}: {} > {}", constraint.sum.name, sum, constraint.most));
    }
    for (const Pair& pair : problem.multiples)
        if (number_of(pair.a, values) % number_of(pair.b, values) != 0)
            result.broken.push_back(fmt::format("{} is no multiple of {}", text_of(problem, pair.a, values),
                                                text_of(problem, pair.b, values)));
    for (const Sum& sum : problem.objective) {
        result.objective.push_back(value_of(problem, sum, values));
        result.cost = std::max(result.cost, result.objective.back());
    }
    return result;
}

}  // namespace tessera::tiles
