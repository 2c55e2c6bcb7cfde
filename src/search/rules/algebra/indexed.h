#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/rules/algebra/draft.h"
#include "search/rules/algebra/formulas.h"

namespace tessera::rules {

/// An operator that reads each operand whole, at one iterator an axis, and writes one result:
///
///     Y[0, 1, .. rank - 1] = post(fold over the other iterators of body(X0[labels..], X1[labels..], ..))
///
/// Transposes, element-wise maps, broadcasts, reductions and products of matrices are all of this form, and
/// differ in labels, monoid and body. Iterators are numbered by the axes of the result that they make;
/// those that are folded follow, in their order.
struct Indexed {
    std::vector<std::vector<int64_t>>
        labels;                         ///< of each operand, the iterator of each axis; no two are equal
    std::vector<ElementType> elements;  ///< of each operand
    int64_t rank = 0;                   ///< of the result
    std::optional<std::vector<Dim>>
        shape;  ///< of the result; where it is made it may follow from the operands
    Monoid monoid = Monoid::kNone;
    Formula body;
    Formula post;  ///< null if there is none
    ElementType result = ElementType::kF32;
    ElementType accumulator = ElementType::kF32;
};

/// The iterators by which the tensor is read or written: distinct ones, one an axis, over its whole extents.
/// Empty for any other map.
std::optional<std::vector<int64_t>> whole_axes(const Definition& definition, const TensorDecl& tensor);

/// Empty if the operator has another form.
std::optional<Indexed> recognise_indexed(const egraph::Operator& op);

/// The operator for children of these types; empty where they do not fit: another rank, extents of one
/// iterator that differ, a layout that is not row-major, an iterator that no operand and no shape bounds.
std::optional<egraph::Operator> make_indexed(const std::string& name, const Indexed& indexed,
                                             std::span<const TensorType> types, Symbols symbols);

/// 0, 1, .. rank - 1.
std::vector<int64_t> in_order(size_t rank);

}  // namespace tessera::rules
