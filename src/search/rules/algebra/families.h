#pragma once

#include <vector>

#include "search/egraph/pattern.h"
#include "search/rules/algebra/draft.h"
#include "search/rules/rule_entry.h"

/// The families of operators that the algebra knows, and its rules, one file for each family. Membership of a
/// family follows from definitions alone; members exist for any rank, any element type, and extents that are
/// constants or multiples of a symbol of the graph.
namespace tessera::rules {

/// Families over a graph with these symbols.
struct Families {
    explicit Families(Symbols symbols);

    std::vector<DimSymbol> symbols;
    /// perm: axis i of the result is axis perm[i] of the operand. The identity is one.
    egraph::FamilyPtr transpose;
    /// Y = body(X) and Y = body(X, Z), element by element: body, result (its element type). A cast is a
    /// unary whose body is the bare read.
    egraph::FamilyPtr unary, binary;
    /// axes (of the operand, ascending) that are folded; monoid, body, post, result, accumulator.
    egraph::FamilyPtr reduce;
    /// Sums of products: a and b (the label of each axis of both factors: the axis of the result, or what
    /// is summed from `rank` on), rank, post, result, accumulator.
    egraph::FamilyPtr product;
    /// labels (of each axis of the operand, the axis of the result), shape of the result.
    egraph::FamilyPtr broadcast;
    /// The same elements in row-major order: from and to, both shapes.
    egraph::FamilyPtr reshape;
    /// start and step of each axis, shape of the result.
    egraph::FamilyPtr slice;
    /// Two operands behind each other along axis; first, the extent of the first one there.
    egraph::FamilyPtr concat;
    /// Maps that are one value where an integer is the place along an axis, else 0; casts that keep the
    /// shape; sums of products of two operands, whatever their maps. Matched only.
    egraph::FamilyPtr one_hot, cast, product_sum;
    /// Any structured operator whose body can be simplified; matched only.
    egraph::FamilyPtr simplifiable;
};

std::vector<RuleEntry> transpose_rules(const Families& families);
std::vector<RuleEntry> reduction_rules(const Families& families);
std::vector<RuleEntry> product_rules(const Families& families);
std::vector<RuleEntry> sibling_rules(const Families& families);
std::vector<RuleEntry> broadcast_rules(const Families& families);
std::vector<RuleEntry> reshape_rules(const Families& families);
std::vector<RuleEntry> slice_rules(const Families& families);
std::vector<RuleEntry> concat_rules(const Families& families);
std::vector<RuleEntry> elementwise_rules(const Families& families);
std::vector<RuleEntry> one_hot_rules(const Families& families);

/// A family whose members are made with the symbols of a graph.
egraph::FamilyPtr family(std::string name,
                         std::optional<egraph::Attributes> (*recognise)(const egraph::Operator&),
                         std::optional<egraph::Operator> (*make)(const egraph::Attributes&,
                                                                 std::span<const TensorType>, Symbols),
                         Symbols symbols);

/// Any function of x, or of x and z, element by element: its body is bound as `f`, the type of the result as
/// `type`.
egraph::Pattern any_unary(const Families& families, egraph::Pattern x);
egraph::Pattern any_binary(const Families& families, egraph::Pattern x, egraph::Pattern z);

/// Any product of x and z with these labels; its other attributes are bound by their names, the type of the
/// result as `type`.
egraph::Pattern product_of(const Families& families, egraph::AttributePattern a, egraph::AttributePattern b,
                           egraph::Pattern x, egraph::Pattern z);

egraph::FamilyPtr transposes(Symbols symbols);
egraph::FamilyPtr elementwise_maps(Symbols symbols, size_t operands);
egraph::FamilyPtr reductions(Symbols symbols);
egraph::FamilyPtr products(Symbols symbols);
egraph::FamilyPtr broadcasts(Symbols symbols);
egraph::FamilyPtr reshapes(Symbols symbols);
egraph::FamilyPtr slices(Symbols symbols);
egraph::FamilyPtr concats(Symbols symbols);
egraph::FamilyPtr one_hots();
egraph::FamilyPtr casts();
egraph::FamilyPtr product_sums();
egraph::FamilyPtr simplifiable_operators();

}  // namespace tessera::rules
