#include "search/tiles/magnitude.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tessera::tiles {
namespace {

// Binary digits of the largest and of the smallest normal float64, with room for the rounding of logarithms.
constexpr double kMostDigits = std::numeric_limits<double>::max_exponent - 1e-6;
constexpr double kLeastDigits = std::numeric_limits<double>::min_exponent - 1 + 1e-6;

double digits_of(int64_t number) {
    return std::log2(static_cast<double>(std::max<int64_t>(number, 1)));
}

int64_t largest(const Problem& problem, const Operand& operand) {
    if (const auto* variable = std::get_if<VariableIndex>(&operand))
        return problem.variables[variable->index].domain.back();
    return std::get<int64_t>(operand);
}

int64_t smallest(const Problem& problem, const Operand& operand) {
    if (const auto* variable = std::get_if<VariableIndex>(&operand))
        return problem.variables[variable->index].domain.front();
    return std::get<int64_t>(operand);
}

/// The factors of a term with one variable.
struct Use {
    int exponent = 0;
    std::vector<std::pair<bool, int64_t>> trips;  ///< with constants; whether the variable is a
    auto operator<=>(const Use&) const = default;
};

void add_uses(const Term& term, std::set<std::pair<size_t, Use>>& all) {
    std::map<size_t, Use> uses;
    for (const Power& power : term.powers) uses[power.variable].exponent += power.exponent;
    for (const Pair& trip : term.trips) {
        const auto* a = std::get_if<VariableIndex>(&trip.a);
        const auto* b = std::get_if<VariableIndex>(&trip.b);
        if (a != nullptr && b == nullptr) uses[a->index].trips.emplace_back(true, std::get<int64_t>(trip.b));
        if (b != nullptr && a == nullptr) uses[b->index].trips.emplace_back(false, std::get<int64_t>(trip.a));
    }
    for (auto& [variable, use] : uses) {
        std::sort(use.trips.begin(), use.trips.end());
        all.emplace(variable, std::move(use));
    }
}

}  // namespace

bool is_in_range(const Problem& problem, const Term& term, size_t terms) {
    const double coefficient = std::log2(term.coefficient);
    double most = std::max(coefficient, 0.0), least = std::min(coefficient, 0.0);
    for (const Power& power : term.powers) {
        const double digits = digits_of(problem.variables[power.variable].domain.back()) * power.exponent;
        (digits > 0 ? most : least) += digits;
    }
    for (const Pair& trip : term.trips) {
        const int64_t a = largest(problem, trip.a), b = smallest(problem, trip.b);
        most += digits_of((a + b - 1) / b);
    }
    return most + std::log2(static_cast<double>(terms)) < kMostDigits && least > kLeastDigits;
}

int64_t table_entries(const Problem& problem) {
    std::set<std::pair<size_t, Use>> all;
    for (const Constraint& constraint : problem.constraints)
        for (const Term& term : constraint.sum.terms) add_uses(term, all);
    for (const Sum& sum : problem.objective)
        for (const Term& term : sum.terms) add_uses(term, all);
    int64_t entries = 0;
    for (const auto& [variable, use] : all)
        entries += static_cast<int64_t>(problem.variables[variable].domain.size());
    return entries;
}

}  // namespace tessera::tiles
