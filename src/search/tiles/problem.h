#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// Tile sizes and buffer placement of a loop structure that is fixed (paper 000, 3.2.2): a discrete geometric
/// program. Every variable takes a value of a finite domain, sums of monomials are bounded, and the largest
/// of the objective's sums is to be as small as possible. This module knows no loops and no buffers.
namespace tessera::tiles {

struct Variable {
    std::string name;
    std::vector<int64_t> domain;  ///< strictly increasing, from 0 to 2^31 - 1, not empty
    bool operator==(const Variable&) const = default;
};

struct VariableIndex {
    size_t index = 0;  ///< in Problem::variables
    bool operator==(const VariableIndex&) const = default;
};

/// A variable whose domain is without 0, or a positive integer below 2^31.
using Operand = std::variant<VariableIndex, int64_t>;

struct Pair {
    Operand a, b;
    bool operator==(const Pair&) const = default;
};

struct Power {
    size_t variable = 0;
    int exponent = 1;  ///< not 0; negative only for a variable whose domain is without 0
    bool operator==(const Power&) const = default;
};

struct Condition {
    size_t variable = 0;
    int64_t value = 0;
    bool operator==(const Condition&) const = default;
};

/// A factor that no formula gives: a number for each choice of values of its variables.
struct Table {
    std::vector<size_t> variables;  ///< different ones
    /// From 0, finite; the values of the last variable follow each other.
    std::vector<double> numbers;
    bool operator==(const Table&) const = default;
};

/// coefficient * product of v^p * product of ceil(a / b) * product of tables if all conditions hold,
/// otherwise 0.
struct Term {
    double coefficient = 1;  ///< > 0
    std::vector<Power> powers;
    std::vector<Pair> trips;
    std::vector<Condition> conditions;
    std::vector<Table> tables = {};  ///< of problems that programs state; files have none
    bool operator==(const Term&) const = default;
};

struct Sum {
    std::string name;
    std::vector<Term> terms;  ///< 0 without any
    bool operator==(const Sum&) const = default;
};

struct Constraint {
    Sum sum;
    double most = 0;  ///< sum <= most * (1 + kTolerance); >= 0
    bool operator==(const Constraint&) const = default;
};

struct Problem {
    std::string name;
    std::vector<Variable> variables;
    std::vector<Constraint> constraints;
    std::vector<Pair> multiples;  ///< a mod b = 0
    std::vector<Sum> objective;   ///< at least one; the cost is the largest
    bool operator==(const Problem&) const = default;
};

/// A value for each variable.
using Assignment = std::vector<int64_t>;

/// Relative. Sums are float64 in any order, so limits and equal costs are meant this exactly.
inline constexpr double kTolerance = 1e-9;

}  // namespace tessera::tiles
