#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/element_type.h"
#include "ir/expr.h"

/// The operator definition: the only description of an operator, from which everything else is derived
/// (docs/design.md, docs/operators.md; the textual form is that of the operator zoo).
namespace tessera {

struct Iterator {
    std::string name;
    ExprPtr extent;  ///< integer expression in dims
    bool is_reduction = false;
    /// The one iterator of a recurrence whose values follow one another. It is a reduction, too: what is
    /// carried folds over it.
    bool is_ordered = false;
};

/// A symbol with inclusive bounds and a known divisor.
struct DimSymbol {
    std::string name;
    int64_t low = 1;
    int64_t high = 1;
    int64_t multiple_of = 1;
    bool operator==(const DimSymbol&) const = default;
};

enum class Role : uint8_t {
    kIndex,   ///< integer operand that maps and predicates may read
    kIn,      ///< operand
    kOut,     ///< result; elements that nothing writes are the identity, or 0 for a map
    kUpdate,  ///< result that keeps its previous contents where nothing writes
};

struct TensorDecl {
    std::string name;
    ElementType type = ElementType::kF32;
    Role role = Role::kIn;
    std::vector<ExprPtr> map;                   ///< one component for each axis
    std::optional<std::vector<ExprPtr>> shape;  ///< `of`; without it 1 + the largest coordinate of the map

    bool is_result() const { return role == Role::kOut || role == Role::kUpdate; }
};

/// kInOrder: a recurrence, whose lines have folds of their own.
enum class Monoid : uint8_t { kNone, kSum, kProd, kMax, kMin, kSoftmaxSum, kInOrder };

/// A line of a recurrence. At each value of the ordered iterator the lines are taken one after the other,
/// each for all values of the iterators of its result; what it reads of other results is of this value, or,
/// of what is carried and not yet renewed, of the value before.
struct RecurrenceLine {
    int result = -1;  ///< in Definition::tensors
    Monoid fold = Monoid::kNone;
    ExprPtr post;  ///< around Folded; null if there is none
};

struct Definition {
    std::string name;
    std::vector<Iterator> iterators;
    std::vector<DimSymbol> dims;
    std::vector<TensorDecl> tensors;  ///< in the order of declaration: index operands, operands, results
    Monoid monoid = Monoid::kNone;
    /// The folded or stored value: one expression, score and value of softmax_sum, or one for each line.
    std::vector<ExprPtr> body;
    std::vector<RecurrenceLine> lines;  ///< of a recurrence, as `body`; empty for others
    ExprPtr post;                       ///< post-expression around Folded; null if there is none
    ExprPtr where;                      ///< predicate; null if every iteration is executed
    ElementType accumulator = ElementType::kF32;
    /// For softmax_sum: the type to which a weight is rounded before it multiplies a value; the sum of the
    /// weights adds the unrounded ones. Weights are relative to the maximum so far, wherever a fold cuts its
    /// positions.
    ElementType weights = ElementType::kF32;
    /// For a recurrence: several values of the ordered iterator may be taken together, which groups sums and
    /// products otherwise (facts/linear_recurrence.h).
    bool may_regroup = false;

    bool is_recurrence() const { return monoid == Monoid::kInOrder; }
    /// Its accumulator's type, f64 or i64, is that of its whole arithmetic: integers wrap around.
    bool is_wide() const { return accumulator == ElementType::kF64 || accumulator == ElementType::kI64; }
    std::vector<int> results() const;         ///< positions of the results in `tensors`
    int tensor(std::string_view name) const;  ///< -1 if there is none
    int iterator(std::string_view name) const;
    int dim(std::string_view name) const;
};

/// Lanes of one operand of a matrix unit: (axis, factor) in order; an axis may occur twice.
struct UnitOperand {
    std::string role;
    std::vector<std::pair<std::string, int64_t>> lanes;
    bool operator==(const UnitOperand&) const = default;
};
struct TileSize {
    int64_t size;
    int64_t origin;
    bool operator==(const TileSize&) const = default;
};

inline constexpr int64_t kDefaultLanes = 4;

/// The part after `test`: it defines nothing but sets up the facts.
struct TestSetup {
    std::map<std::string, int64_t> bind;
    std::map<std::string, ExprPtr> fill;  ///< index operand -> contents at FillPosition
    std::map<std::string, TileSize> tile;
    int64_t lanes = kDefaultLanes;
    std::vector<UnitOperand> unit;  ///< empty, or two factors and a result
};

/// Lines in which the parts of a definition were read, for later errors; 0 where there was no text.
struct DefinitionLines {
    int op = 0;
    std::vector<int> dims;     ///< as Definition::dims
    std::vector<int> tensors;  ///< as Definition::tensors
    int body = 0;
    int where = 0;
    std::map<std::string, int> bindings;
    std::map<std::string, int> fills;
    std::map<std::string, int> tiles;
    int lanes = 0;
    int unit = 0;
};

struct DefinitionFile {
    Definition definition;
    TestSetup test;
    DefinitionLines lines;
};

/// A definition whose dims have values.
struct BoundExtents {
    std::vector<int64_t> dims;                 ///< as Definition::dims
    std::vector<int64_t> iterators;            ///< extents, as Definition::iterators
    std::vector<std::vector<int64_t>> shapes;  ///< as Definition::tensors
};

/// Equality of the trees; a declared map equals the same coordinates written out.
bool same(const Definition& a, const Definition& b);
bool same(const TestSetup& a, const TestSetup& b);

/// "sum", "softmax_sum", ...; "" for none.
std::string_view name(Monoid monoid);
double identity(Monoid monoid);  ///< 0 for none; that of the score, -inf, for softmax_sum
/// The contents of elements that no iteration writes: 0 in the sums of softmax_sum.
double identity(const Definition& definition, int result);

/// Reads the textual form. `where` names the source in errors ("matmul.op:3: ...").
/// @throws Error for anything that the notation does not allow, with the line.
DefinitionFile parse_definition_file(std::string_view text, const std::string& where);
/// As above, for a definition without a test part.
Definition parse_definition(std::string_view text, const std::string& where);
/// The textual form; parse(print(d)) equals d.
std::string print(const Definition& definition);
std::string print(const Definition& definition, const TestSetup& test);
std::string print(const Definition& definition, const ExprPtr& expr);

/// Checks everything that does not depend on the values of the dims. @throws Error naming the broken rule.
void verify(const Definition& definition, const std::string& where);
/// The definition and its test part, the latter as far as it does not depend on extents; with lines.
void verify(const DefinitionFile& file, const std::string& where);

/// Extents and shapes at these values of the dims. The largest coordinate of a quasi-affine map is derived
/// from the map, never by enumeration of the box. @throws Error if a value is outside its dim's bounds, or if
/// a shape is needed.
BoundExtents bound_extents(const Definition& definition, const std::vector<int64_t>& dims,
                           const std::string& where);
/// As above at the values of the test part; errors name the line.
BoundExtents bound_extents(const DefinitionFile& file, const std::string& where);

/// Checks for violations of the notation that only extents and the contents of index operands show: tiles
/// that are not interior, reads of index operands and writes out of range, two iterations of a map that write
/// one element. By analysis where maps allow it, else by enumeration of the iterators concerned.
/// @throws Error naming the tensor or iterator, with its line.
void check_bound(const DefinitionFile& file, const BoundExtents& extents, const std::string& where);

/// The values that the test part gives to the dims, as Definition::dims.
std::vector<int64_t> bound_dims(const DefinitionFile& file);

/// The value of an expression that holds no read and no iterator (extents, shapes).
int64_t evaluate_constant(const ExprPtr& expr, const std::vector<int64_t>& dims);

/// True if a component of a map reads an index operand.
bool is_indirect(const ExprPtr& component);

/// Every read below these expressions, those inside coordinates included; each distinct read once.
std::vector<Read> reads_in(const std::vector<ExprPtr>& roots);
/// All expressions in which a definition reads: body, post-expression, maps of the results, predicate.
std::vector<ExprPtr> read_roots(const Definition& definition);
/// The coordinates by which a tensor is accessed: all reads of an operand, the one write of a result.
std::vector<std::vector<ExprPtr>> accesses(const Definition& definition, int tensor);
/// Iterators (positions, ascending) that occur below the expression, reads' coordinates included.
std::vector<int> iterators_in(const ExprPtr& expr);
std::vector<int> iterators_in(const std::vector<ExprPtr>& exprs);

}  // namespace tessera
