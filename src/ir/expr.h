#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/element_type.h"

/// Expressions of a definition: extents, access maps, predicates and bodies all have this one form.
/// Semantics: zoo notation, "Expressions". Trees are immutable and shared; names are resolved to positions in
/// the Definition that owns the expression.
namespace tessera {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class Function : uint8_t {
    // arithmetic
    kAdd,
    kSub,
    kMul,
    kDivide,
    kFloorDiv,
    kMod,
    kNegate,
    kMin,
    kMax,
    kAbs,
    kRound,
    kPow,
    // of the bits of integers, in two's complement
    kBitAnd,
    kBitOr,
    kBitXor,
    kBitNot,
    kShiftLeft,   ///< by 64 or more: 0
    kShiftRight,  ///< of a number that is not negative
    // special functions
    kExp,
    kLog,
    kSqrt,
    kRsqrt,
    kTanh,
    kErf,
    kSin,
    kCos,
    kTan,
    kAsin,
    kAcos,
    kAtan,
    kSinh,
    kCosh,
    kAsinh,
    kAcosh,
    kAtanh,
    kSigmoid,
    // logic; results are 0 or 1
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqual,
    kNotEqual,
    kAnd,
    kOr,
    kNot,
    kSelect,
};

struct Number {
    double value;
    bool is_integer;  ///< written without a fraction
    bool operator==(const Number&) const = default;
};
struct Infinity {
    bool operator==(const Infinity&) const = default;
};
struct IteratorRef {
    int index;  ///< in Definition::iterators
    bool operator==(const IteratorRef&) const = default;
};
struct DimRef {
    int index;  ///< in Definition::dims
    bool operator==(const DimRef&) const = default;
};
/// `i` in a `fill`: the row-major position.
struct FillPosition {
    bool operator==(const FillPosition&) const = default;
};
/// The monoid's result in a post-expression.
struct Folded {
    bool operator==(const Folded&) const = default;
};
/// An element of a tensor.
struct Read {
    int tensor;                        ///< in Definition::tensors
    bool declared_map;                 ///< written `X`, without coordinates
    std::vector<ExprPtr> coordinates;  ///< always filled, also for a declared map
};
struct Apply {
    Function function;
    std::vector<ExprPtr> arguments;
};
struct Cast {
    ElementType to;
    ExprPtr argument;
};

struct Expr {
    std::variant<Number, Infinity, IteratorRef, DimRef, FillPosition, Folded, Read, Apply, Cast> node;
};

ExprPtr number(int64_t value);
ExprPtr real(double value);
ExprPtr infinity();
ExprPtr iterator_ref(int index);
ExprPtr dim_ref(int index);
ExprPtr fill_position();
ExprPtr folded();
ExprPtr read(int tensor, std::vector<ExprPtr> coordinates, bool declared_map);
/// The negative of a literal is a literal: `-1` has one form only.
ExprPtr apply(Function function, std::vector<ExprPtr> arguments);
ExprPtr cast(ElementType to, ExprPtr argument);

/// "+", "div", "exp", "<=", "select", ...
std::string_view name(Function function);
/// True if it compares two numbers: the result is 0 or 1.
bool is_comparison(Function function);
/// True if integer arguments give an integer; of a select, only the selected arguments count.
bool gives_integers_of_integers(Function function);
/// exp log sqrt rsqrt tanh erf sigmoid, and the trigonometric ones.
bool is_special(Function function);
/// True if it is written as a call, `exp(X)`.
bool is_called(Function function);
inline constexpr size_t kFunctions = static_cast<size_t>(Function::kSelect) + 1;
/// True if numbers of 64 bits alone are computed by it: floats (kPow, kSin, ...) or integers (kBitAnd, ...).
bool is_wide(Function function);
bool is_of_bits(Function function);
/// The number of arguments.
int arity(Function function);

/// Equality of the trees (a declared map equals the same coordinates written out).
bool same(const ExprPtr& a, const ExprPtr& b);

/// Direct children: arguments, coordinates of a read, the argument of a cast.
std::vector<ExprPtr> children(const Expr& expr);

/// Calls `visit` for every node, parents first; returns nothing below a node for which `visit` returns false.
template <typename Visit>
void walk(const ExprPtr& expr, Visit&& visit) {
    if (!expr || !visit(*expr)) return;
    for (const ExprPtr& child : children(*expr)) walk(child, visit);
}

}  // namespace tessera
