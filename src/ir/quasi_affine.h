#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/definition.h"

/// Components of access maps in normal form, and their properties without enumerating the iterations.
namespace tessera {

struct QuasiAffine;

/// An atom of a quasi-affine form: an iterator, the floor division or remainder of a form by a constant, or
/// the value of an index operand.
struct QuasiAtom {
    enum class Kind : uint8_t { kIterator, kFloorDiv, kMod, kRead };
    Kind kind = Kind::kIterator;
    int iterator = -1;                         ///< of kIterator: position in the definition
    int64_t divisor = 1;                       ///< of kFloorDiv and kMod; at least 2
    std::shared_ptr<const QuasiAffine> inner;  ///< of kFloorDiv and kMod
    ExprPtr read;                              ///< of kRead
};

struct QuasiTerm {
    int64_t coefficient = 1;  ///< not 0
    QuasiAtom atom;
};

/// constant + sum of coefficient * atom. Equal atoms are merged; multiples of a divisor stand outside of
/// `div` and `mod`; iterators of extent 1 and divisions that do nothing in the box have vanished.
struct QuasiAffine {
    int64_t constant = 0;
    std::vector<QuasiTerm> terms;
};

bool same(const QuasiAffine& a, const QuasiAffine& b);
bool is_indirect(const QuasiAffine& form);
/// Iterators that occur, ascending; those at which index operands are read included.
std::vector<int> iterators_in(const QuasiAffine& form);

struct IntegerInterval {
    int64_t low = 0;   ///< inclusive
    int64_t high = 0;  ///< inclusive
    bool operator==(const IntegerInterval&) const = default;
};

/// The normal form of a component of a map, valid in the box of these extents.
/// @throws Error if it is not quasi-affine, divides by zero, or exceeds 64 bits.
QuasiAffine quasi_affine(const ExprPtr& component, std::span<const int64_t> dims,
                         std::span<const int64_t> extents, const std::string& where);

/// @pre no reads
int64_t evaluate(const QuasiAffine& form, std::span<const int64_t> iterators);

/// An enclosure by interval arithmetic: no value lies outside, but the ends need not be taken.
IntegerInterval enclosing_range(const QuasiAffine& form, std::span<const int64_t> extents,
                                const std::string& where);

/// The smallest and largest value over the box, exactly. Independent parts are taken apart, iterators are
/// reduced to one period; only the rest is enumerated.
/// @pre no reads @throws Error if too much is left to enumerate
IntegerInterval exact_range(const QuasiAffine& form, std::span<const int64_t> extents,
                            const std::string& where);

/// After how many steps of an iterator the form is the same but for a constant: f(x + steps) = f(x) + shift.
struct Period {
    int64_t steps = 1;
    int64_t shift = 0;
};
/// Empty if the period exceeds 64 bits. @pre no reads
std::optional<Period> period(const QuasiAffine& form, int iterator);

}  // namespace tessera
