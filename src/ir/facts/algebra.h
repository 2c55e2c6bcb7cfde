#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/facts/value_range.h"

/// Normal forms of bodies and post-expressions: Laurent polynomials over reads, iterators, the folded value,
/// and calls of functions on such polynomials. Every property that a normal form shows (a factor, a degree, a
/// cancellation) holds for all contents of the operands.
namespace tessera::facts {

/// Atoms with their powers (not 0), ascending by atom.
using Monomial = std::vector<std::pair<int, int>>;
/// Coefficients are not 0. The empty polynomial is 0.
using Polynomial = std::map<Monomial, double>;

struct AlgebraAtom {
    enum class Kind { kRead, kIterator, kFolded, kInfinity, kCall, kCast, kInverse };
    Kind kind;
    int index = -1;  ///< iterator or tensor
    std::vector<ExprPtr> coordinates;
    Function function{};
    ElementType type{};
    std::vector<Polynomial> arguments;
    ValueRange range{};
};

struct AlgebraOptions {
    int real_tensor = -1;  ///< a tensor whose elements may be any real numbers, whatever its type
    /// sqrt(p) sqrt(p) = p and exp(log(p)) = p, which hold where the left side is a number.
    bool only_where_defined = false;
    std::vector<Range> iterators;      ///< their executed values; whole extents if empty
    std::optional<ValueRange> folded;  ///< otherwise that of the accumulator's type
    /// The value of a read that never reaches an element.
    std::function<std::optional<double>(const Read&)> constant_read;
    bool finite_reads = false;  ///< reals are below 1e30, so that infinities come from `outside` alone
    /// The value that a read may give besides its type's values: the identity, out of range.
    std::function<std::optional<double>(const Read&)> outside;
};

class Algebra {
public:
    Algebra(const BoundDefinition& bound, AlgebraOptions options)
        : bound_(bound), options_(std::move(options)) {}

    Polynomial normal_form(const ExprPtr& expr);
    const AlgebraAtom& atom(int id) const { return atoms_[static_cast<size_t>(id)]; }
    size_t atoms() const { return atoms_.size(); }
    ValueRange range_of(const Polynomial& p) const;
    ValueRange range_of(const Monomial& m, double coefficient) const;

private:
    int intern(AlgebraAtom atom);
    Polynomial atom_polynomial(AlgebraAtom atom);
    Polynomial multiply(const Polynomial& a, const Polynomial& b);
    Polynomial apply(const Apply& call);
    Polynomial call(Function function, std::vector<Polynomial> arguments);
    Polynomial simplified_call(Function function, std::vector<Polynomial>& arguments, bool& done);
    bool is_call_with(const Polynomial& p, Function function, const Polynomial& argument) const;
    Polynomial indicator(const Polynomial& p);
    Polynomial inverse(const Polynomial& p);
    Polynomial power(const Monomial& m);

    const BoundDefinition& bound_;
    AlgebraOptions options_;
    std::vector<AlgebraAtom> atoms_;
};

/// Every atom that occurs in the polynomial, also within others, each once.
std::vector<int> atoms_in(const Algebra& algebra, const Polynomial& p);

Polynomial constant_polynomial(double value);
std::optional<double> constant_value(const Polynomial& p);
Polynomial add(const Polynomial& a, const Polynomial& b, double times = 1);

/// The element type that an expression counts as (zoo notation, facts sbp and linear): casts, operands and
/// the accumulator have theirs; integers alone make i32, anything else f32.
ElementType counted_type(const Definition& definition, const ExprPtr& expr);

/// How a value depends on something that is split into summands.
enum class Dependence { kNone, kLinear, kOther };

/// @param atom_dependence of reads, iterators and the folded value
Dependence dependence(const Algebra& algebra, const Polynomial& p,
                      const std::function<Dependence(const AlgebraAtom&)>& atom_dependence);

}  // namespace tessera::facts
