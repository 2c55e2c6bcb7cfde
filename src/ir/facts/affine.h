#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "ir/facts/bound_definition.h"

/// Quasi-affine forms: constant + sum of factor * atom, where an atom is a variable, a floor quotient or a
/// remainder of another form by a positive constant, or an element of an index operand. Forms are values;
/// atoms are shared.
namespace tessera::facts {

struct Atom;
using AtomPtr = std::shared_ptr<const Atom>;

struct Term {
    int64_t factor;
    AtomPtr atom;
};

/// Terms are sorted by atom, atoms distinct, factors not zero.
struct Form {
    int64_t constant = 0;
    std::vector<Term> terms;

    bool is_constant() const { return terms.empty(); }
};

struct Variable {
    int id;
};
struct Quotient {
    Form inner;
    int64_t divisor;
};
struct Remainder {
    Form inner;
    int64_t divisor;
};
struct Lookup {
    int tensor;
    std::vector<Form> coordinates;
};
struct Atom {
    std::variant<Variable, Quotient, Remainder, Lookup> node;
};

/// The domain of forms: variable v runs through [0, extents[v]).
struct Space {
    const BoundDefinition* bound;
    std::vector<int64_t> extents;
};

/// Inclusive bounds.
struct Bounds {
    int64_t low;
    int64_t high;
};

/// All arithmetic is checked: @throws Error if a coordinate leaves 64 bits.
Form constant_form(int64_t value);
Form variable_form(int id, int64_t factor = 1);
Form lookup_form(int tensor, std::vector<Form> coordinates);
Form add(const Form& a, const Form& b, const Space& space);
Form scale(const Form& a, int64_t factor, const Space& space);

/// floor(form / divisor) and form - divisor * floor(form / divisor), divisor > 0, simplified over the space:
/// multiples of the divisor leave the quotient, and a low part that cannot carry is dropped.
Form quotient(const Form& form, int64_t divisor, const Space& space);
Form remainder(const Form& form, int64_t divisor, const Space& space);

/// The same as one atom each, not simplified.
Form raw_quotient(const Form& form, int64_t divisor);
Form raw_remainder(const Form& form, int64_t divisor);

/// An enclosure of the values over the space; exact if no two terms share a variable.
Bounds bounds(const Form& form, const Space& space);

/// The treatment of quotients and remainders when their operands change: `kAsWritten` keeps them, so that
/// later steps see their divisors.
enum class Divisions : uint8_t { kSimplified, kAsWritten };

/// Replaces variable v by values[v], simplified over `space`, in which the replacements live.
Form substitute(const Form& form, std::span<const Form> values, const Space& space,
                Divisions divisions = Divisions::kSimplified);

/// The value at one point of the space. @throws Error for a read of an index operand out of its range.
int64_t evaluate(const Form& form, std::span<const int64_t> point, const Space& space);
int64_t evaluate(const Atom& atom, std::span<const int64_t> point, const Space& space);

/// Variables that occur in the form, each once, ascending.
std::vector<int> variables_in(const Form& form);
std::vector<int> variables_in(const Atom& atom);

/// True if the form reads an index operand whose contents are not known.
bool has_unknown_lookup(const Form& form, const Space& space);

int64_t floor_div(int64_t a, int64_t b);  ///< b > 0
int64_t floor_mod(int64_t a, int64_t b);  ///< b > 0

}  // namespace tessera::facts
