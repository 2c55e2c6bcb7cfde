#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "search/tiles/problem.h"

namespace tessera::tiles {

/// Small problems with every construct: powers, trips of variables and constants, conditions that hold rarely
/// or never, switches, quotients, multiples, sums without terms.
class RandomProblem {
public:
    explicit RandomProblem(unsigned seed) : random_(seed) {}

    Problem make() {
        const size_t variables = 1 + below(5);
        for (size_t v = 0; v < variables; ++v) problem_.variables.push_back(variable(v));
        for (size_t v = 0; v < variables; ++v)
            if (problem_.variables[v].domain.front() > 0) positive_.push_back(v);
        for (size_t c = below(4); c > 0; --c)
            problem_.constraints.push_back({sum("c", c, 4, true), pick({1, 2, 20, 100, 1000, 5000})});
        if (positive_.size() > 1 && below(2) == 0) {
            Term quotient;
            quotient.powers = {{positive_[0], 1}, {positive_[1], -1}};
            problem_.constraints.push_back({{"quotient", {quotient}}, 1});
        }
        if (below(3) == 0)
            for (size_t m = 1 + below(2); m > 0; --m) problem_.multiples.push_back(pair());
        for (size_t s = 1 + below(3); s > 0; --s) problem_.objective.push_back(sum("o", s, 7, false));
        return problem_;
    }

private:
    size_t below(size_t n) { return random_() % n; }
    double pick(const std::vector<double>& of) { return of[below(of.size())]; }

    Variable variable(size_t number) {
        Variable made{"v" + std::to_string(number), {}};
        if (below(3) == 0) {
            made.domain = {0, 1};
            return made;
        }
        std::set<int64_t> values;
        const auto largest = static_cast<size_t>(pick({9, 40, 200}));
        const size_t least = below(8) == 0 ? 0 : 1;
        for (size_t i = 1 + below(6); i > 0; --i) values.insert(static_cast<int64_t>(least + below(largest)));
        made.domain.assign(values.begin(), values.end());
        return made;
    }
    Operand operand() {
        if (!positive_.empty() && below(3) != 0) return VariableIndex{positive_[below(positive_.size())]};
        return static_cast<int64_t>(pick({1, 2, 8, 16, 100, 333}));
    }
    Pair pair() {
        Operand a = operand(), b = operand();
        return {a, b};
    }
    Term term(bool is_integer) {
        Term made{
            .coefficient = is_integer ? static_cast<double>(1 + below(9)) : pick({1, 2, 0.5, 0.1, 3.7, 12}),
            .powers = {},
            .trips = {},
            .conditions = {}};
        const size_t variables = problem_.variables.size();
        for (size_t v = 0; v < variables; ++v) {
            if (below(3) == 0) {
                const bool may_divide = !is_integer && problem_.variables[v].domain.front() > 0;
                made.powers.push_back(
                    {v, static_cast<int>(may_divide ? pick({1, 2, -1, -2}) : pick({1, 1, 2}))});
            }
            if (below(5) == 0) {
                const std::vector<int64_t>& domain = problem_.variables[v].domain;
                made.conditions.push_back({v, below(20) == 0 ? 77 : domain[below(domain.size())]});
            }
        }
        for (size_t i = below(5); i > 0; --i) made.trips.push_back(pair());
        if (below(4) == 0) made.tables.push_back(table(is_integer));
        return made;
    }
    Table table(bool is_integer) {
        Table made;
        size_t numbers = 1;
        for (size_t v = 0; v < problem_.variables.size(); ++v)
            if (below(2) == 0) {
                made.variables.push_back(v);
                numbers *= problem_.variables[v].domain.size();
            }
        std::shuffle(made.variables.begin(), made.variables.end(), random_);
        for (size_t i = 0; i < numbers; ++i)
            made.numbers.push_back(is_integer ? static_cast<double>(below(4)) : pick({0, 0.3, 1, 2.5, 40}));
        return made;
    }
    Sum sum(const std::string& kind, size_t number, size_t most_terms, bool is_integer) {
        Sum made{kind + std::to_string(number), {}};
        for (size_t t = below(most_terms + 1); t > 0; --t) made.terms.push_back(term(is_integer));
        return made;
    }

    std::mt19937 random_;
    Problem problem_;
    std::vector<size_t> positive_;
};

/// A second implementation of the format, without a line of the module.
inline std::optional<long double> plain_cost(const Problem& problem, const Assignment& values) {
    const auto number = [&](const Operand& operand) {
        const auto* variable = std::get_if<VariableIndex>(&operand);
        return variable != nullptr ? values.at(variable->index) : std::get<int64_t>(operand);
    };
    const auto total = [&](const Sum& sum) {
        long double result = 0;
        for (const Term& term : sum.terms) {
            const bool holds = std::all_of(term.conditions.begin(), term.conditions.end(),
                                           [&](const Condition& c) { return values[c.variable] == c.value; });
            long double product = holds ? term.coefficient : 0;
            for (const Power& power : term.powers)
                product *= std::pow(static_cast<long double>(values[power.variable]), power.exponent);
            for (const Pair& trip : term.trips) {
                const int64_t a = number(trip.a), b = number(trip.b);
                product *= static_cast<long double>(a / b + (a % b == 0 ? 0 : 1));
            }
            for (const Table& table : term.tables) {
                size_t place = 0;
                for (const size_t v : table.variables) {
                    const std::vector<int64_t>& domain = problem.variables[v].domain;
                    place = place * domain.size();
                    while (domain[place % domain.size()] != values[v]) ++place;
                }
                product *= table.numbers[place];
            }
            result += product;
        }
        return result;
    };
    for (const Constraint& constraint : problem.constraints)
        if (total(constraint.sum) > constraint.most * (1 + 1e-9L)) return std::nullopt;
    for (const Pair& pair : problem.multiples)
        if (number(pair.a) % number(pair.b) != 0) return std::nullopt;
    long double cost = 0;
    for (const Sum& sum : problem.objective) cost = std::max(cost, total(sum));
    return cost;
}

/// @param visit takes values and their plain cost
template <typename Visit>
void for_each_feasible(const Problem& problem, const Visit& visit) {
    std::vector<size_t> at(problem.variables.size(), 0);
    for (;;) {
        Assignment values;
        for (size_t v = 0; v < at.size(); ++v) values.push_back(problem.variables[v].domain[at[v]]);
        if (const auto cost = plain_cost(problem, values)) visit(values, static_cast<double>(*cost));
        size_t v = 0;
        while (v < at.size() && ++at[v] == problem.variables[v].domain.size()) at[v++] = 0;
        if (v == at.size()) return;
    }
}

/// The least cost of all assignments; empty if none is feasible.
inline std::optional<double> least_cost(const Problem& problem) {
    std::optional<double> best;
    for_each_feasible(problem, [&](const Assignment&, double cost) {
        if (!best || cost < *best) best = cost;
    });
    return best;
}

inline bool near(double a, double b) {
    return std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b));
}

/// One product of two levels: three chains of tiles, two buffers that may be kept in L2, and a size of
/// padding that no power of two avoids.
inline Problem two_level_product(int64_t m, int64_t n, int64_t k, size_t sizes) {
    Problem problem{.name = "product", .variables = {}, .constraints = {}, .multiples = {}, .objective = {}};
    const auto add = [&](const std::string& name, int64_t step) {
        problem.variables.push_back({name, {}});
        for (size_t i = 1; i <= sizes; ++i)
            problem.variables.back().domain.push_back(step * static_cast<int64_t>(i));
        return problem.variables.size() - 1;
    };
    const size_t m1 = add("m1", 4), m2 = add("m2", 16), n1 = add("n1", 4), n2 = add("n2", 16),
                 k1 = add("k1", 4), k2 = add("k2", 16);
    problem.variables.push_back({"place_A", {0, 1}});
    problem.variables.push_back({"place_B", {0, 1}});
    const size_t place_a = 6, place_b = 7;
    const auto within = [&](const std::string& name, size_t inner, size_t outer) {
        problem.constraints.push_back({{name, {{1, {{inner, 1}, {outer, -1}}, {}, {}}}}, 1});
    };
    within("m1_in_m2", m1, m2);
    within("n1_in_n2", n1, n2);
    within("k1_in_k2", k1, k2);
    problem.constraints.push_back({{"L1",
                                    {{4, {{m1, 1}, {k1, 1}}, {}, {}},
                                     {4, {{k1, 1}, {n1, 1}}, {}, {}},
                                     {4, {{m1, 1}, {n1, 1}}, {}, {}}}},
                                   8192});
    problem.constraints.push_back(
        {{"L2", {{4, {{m2, 1}, {k2, 1}}, {}, {{place_a, 1}}}, {4, {{k2, 1}, {n2, 1}}, {}, {{place_b, 1}}}}},
         32768});
    const auto v = [](size_t index) { return Operand(VariableIndex{index}); };
    const std::vector<Pair> outer = {{m, v(m2)}, {n, v(n2)}, {k, v(k2)}};
    std::vector<Pair> all = outer;
    all.push_back({v(m2), v(m1)});
    all.push_back({v(n2), v(n1)});
    all.push_back({v(k2), v(k1)});
    Sum memory{"memory",
               {{0.5, {{m1, 1}, {k1, 1}}, all, {}},
                {0.5, {{k1, 1}, {n1, 1}}, all, {}},
                {2, {{m2, 1}, {k2, 1}}, outer, {{place_a, 1}}},
                {2, {{m1, 1}, {k1, 1}}, all, {{place_a, 0}}},
                {2, {{k2, 1}, {n2, 1}}, outer, {{place_b, 1}}},
                {2, {{k1, 1}, {n1, 1}}, all, {{place_b, 0}}}}};
    std::vector<Pair> blocks = all;
    blocks.push_back({v(m1), int64_t{8}});
    blocks.push_back({v(n1), int64_t{16}});
    Sum compute{"compute", {{3.1, {{k1, 1}}, blocks, {}}, {50, {}, blocks, {}}}};
    problem.objective = {memory, compute};
    return problem;
}

}  // namespace tessera::tiles
