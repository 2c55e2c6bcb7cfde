#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/error.h"

/// Integer expressions of a lowered program: loop bounds, coordinates and offsets.
///
/// An Index is kept in normal form, constant + sum of coefficient x atom, where an atom is a variable, a
/// floor division or remainder by a constant, a product, a minimum or maximum, or an element of an index
/// operand. Constructors simplify with what is known of the variables (bounds, divisor):
///
///     s = 16 q + l, 0 <= l < 16:    s div 16 = q,   s mod 16 = l,   (c div 32) 32 + c mod 32 = c
///
/// so that the composition of access maps, layouts and views ends as the strides that the kernels want.
///
/// Two are equal if their normal forms are; their order is that of the normal forms, which says nothing of
/// their values. Texts are for readers and compilers alone: nothing is decided by them.
///
/// Constants and coefficients have 64 bits; a larger one throws IndexOverflow.
namespace tessera::movement {

struct IndexOverflow : Error {
    IndexOverflow();
};

/// Bounds saturate here, far from overflow: a bound of this size may stand for a larger one.
inline constexpr int64_t kFar = int64_t{1} << 60;

struct Bounds {
    int64_t low;   ///< inclusive
    int64_t high;  ///< inclusive
    bool operator==(const Bounds&) const = default;
};

/// A loop variable or a symbol. Two variables are the same if their names are.
struct Variable {
    std::string name;
    Bounds bounds;
    int64_t multiple_of = 1;
    bool operator==(const Variable&) const = default;
};

class Index {
public:
    enum class AtomKind : uint8_t { kVariable, kFloorDiv, kMod, kProduct, kMin, kMax, kRead };
    struct Atom;
    struct Term {
        std::shared_ptr<const Atom> atom;
        int64_t coefficient;
        friend bool operator==(const Term& a, const Term& b);
        friend std::strong_ordering operator<=>(const Term& a, const Term& b);
    };

    Index() = default;
    Index(int64_t constant) : constant_(constant) {}  // NOLINT: a number is an Index
    static Index variable(const Variable& variable);
    /// An element of the index operand `buffer`, any i32.
    static Index read(const std::string& buffer, const Index& offset);

    std::optional<int64_t> as_constant() const;
    int64_t constant() const { return constant_; }
    const std::vector<Term>& terms() const { return terms_; }

    Bounds bounds() const;
    /// The largest number that is known to divide every value; 0 for the constant 0.
    int64_t divisor() const;
    bool uses(const std::string& variable) const;
    /// The variable occurs in no other form than as a term and in factors of products, if at all.
    bool uses_in_products(const std::string& variable) const;
    /// The factor of a variable that occurs in no other form than as a term; nothing otherwise. 0 if it does
    /// not occur.
    std::optional<int64_t> coefficient(const std::string& variable) const;
    Index substitute(const std::string& variable, const Index& by) const;

    friend Index operator+(const Index& a, const Index& b);
    friend Index operator-(const Index& a, const Index& b);
    friend Index operator*(const Index& a, const Index& b);
    friend bool operator==(const Index& a, const Index& b) {
        return a.constant_ == b.constant_ && a.terms_ == b.terms_;
    }
    friend std::strong_ordering operator<=>(const Index& a, const Index& b);

private:
    friend Index index_of(Term term);
    int64_t constant_ = 0;
    std::vector<Term> terms_;  ///< ascending by atom; each atom once, no zero coefficients
};

struct Index::Atom {
    AtomKind kind;
    Variable variable;    ///< kVariable
    std::string buffer;   ///< kRead
    int64_t modulus = 1;  ///< kFloorDiv, kMod
    std::vector<Index> arguments;
    friend bool operator==(const Atom& a, const Atom& b) { return (a <=> b) == 0; }
    friend std::strong_ordering operator<=>(const Atom& a, const Atom& b);
};

/// The term by itself.
Index index_of(Index::Term term);

/// As the text of a program: `4 * t + (e div 16)`. Terms stand in alphabetical order.
std::string print(const Index& index);

Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator*(const Index& a, const Index& b);
/// Rounds down. @pre divisor is not 0
Index floor_div(const Index& a, int64_t divisor);
/// The rest, which has the sign of the divisor. @pre divisor is not 0
Index mod(const Index& a, int64_t divisor);
Index min(const Index& a, const Index& b);
Index max(const Index& a, const Index& b);

}  // namespace tessera::movement
