#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "search/tiles/problem.h"
#include "search/tiles/range_minimum.h"
#include "search/tiles/solve.h"

/// The problem in the form of the search. Terms are split into factors that share no variable, and equal
/// parts exist once:
///
///     0.5 * k1 * ceil(1500 / m2) * ceil(m2 / m1) * ceil(160 / k1)   if place_A = 1, place_B = 0
///            `------ factor of m1, m2 ----------'
///     `--- coefficient, and the factor k1 ceil(160 / k1) -'
///
/// A condition v = u puts u into its term instead of v. Variables of one value, and those that are 0 or 1 and
/// multiplied, disappear in the same way. Conditions form clusters (conditions.h).
namespace tessera::tiles {

struct NormalVariable {
    std::vector<int64_t> values;  ///< the domain, without what multiples of constants forbid
    /// The class of each value. Values that conditions name have classes of their own, numbered in their
    /// order; all others share the last one.
    std::vector<int> class_of;
    int named = 0;    ///< classes of one value
    int classes = 1;  ///< all
};

/// v^p and trips with constants, as a table.
struct Function {
    size_t variable = 0;
    RangeMinimum table;
};

struct VariablePair {
    size_t a = 0, b = 0;
    auto operator<=>(const VariablePair&) const = default;
};

/// A lower bound of a factor: the least values of functions, times ceil of the kept pairs at the ends of the
/// domains. Other pairs are replaced by a / b and stand in the functions, or are joined (factors.cpp).
struct Relaxation {
    double scale = 1;
    std::vector<size_t> functions;
    std::vector<VariablePair> kept;
};

/// A table over the values that are left of its variables.
struct BoxTable {
    std::vector<size_t> strides;  ///< by variable of the factor
    std::vector<double> numbers;
};

/// A product that shares no variable with the other products of its term, or a table.
struct Factor {
    std::vector<size_t> variables;
    std::vector<VariablePair> pairs;      ///< ceil(a / b)
    std::vector<Relaxation> relaxations;  ///< the first keeps all pairs: exact if one value is left
    std::optional<BoxTable> table = {};   ///< in place of these
};

struct NormalTerm {
    double coefficient = 1;
    std::vector<size_t> factors;
};

/// Terms of a sum whose conditions have variables in common, with every combination of the classes of these
/// variables that the constraints allow. Exactly one combination holds, so the cheapest one counts.
struct Cluster {
    std::vector<size_t> scope;                 ///< variables
    std::vector<size_t> terms;                 ///< of the sum
    std::vector<int> classes;                  ///< of combination c: [c * scope.size() ...]
    std::vector<std::vector<size_t>> holding;  ///< for each combination, the terms of the sum that count

    size_t combinations() const { return holding.size(); }
};

/// A term whose conditions have too many combinations: it counts only once all of them hold.
struct LoneTerm {
    size_t term = 0;
    std::vector<size_t> variables;
    std::vector<int> classes;
};

struct NormalSum {
    std::vector<NormalTerm> terms;
    std::vector<size_t> unconditional;  ///< of the terms
    std::vector<Cluster> clusters;
    std::vector<LoneTerm> lone;
};

struct NormalForm {
    std::vector<NormalVariable> variables;
    std::vector<Function> functions;
    std::vector<Factor> factors;
    std::vector<NormalSum> sums;      ///< the constraints, then the objective
    std::vector<double> limits;       ///< of the constraints
    std::vector<VariablePair> pairs;  ///< a is a multiple of b
    bool is_infeasible = false;       ///< a variable has no value left, or constants are no multiples
};

/// Uses only the inferences of the options.
NormalForm normal_form(const Problem& problem, const Options& options);

}  // namespace tessera::tiles
