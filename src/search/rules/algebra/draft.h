#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/ops/define.h"
#include "search/egraph/operator.h"

namespace tessera::rules {

using ops::Symbols;

/// An operator with one result while it is put together. Iterators are called i0, i1, .., operands X0, X1, ..
/// and the result Y, unless a symbol of the graph has that name. Layouts are row-major.
class Draft {
public:
    /// The symbols that the shapes of `operands` and of the result name become its dims.
    Draft(const std::string& name, Symbols symbols, std::span<const TensorType> operands,
          const std::vector<Dim>& result);

    int add_iterator(const Dim& extent, bool is_reduction = false);
    /// One for each axis. Afterwards the result can be written.
    void add_iterators(const std::vector<Dim>& shape);
    /// `shape`: where the map does not reach every element, or does not show the extents.
    void add_operand(ElementType type, std::vector<ExprPtr> map,
                     const std::optional<std::vector<Dim>>& shape = std::nullopt);
    /// Element i of axis a of the result is made by iterator a.
    void set_result(ElementType type, const std::vector<Dim>& shape);

    /// The declared element of operand k.
    ExprPtr read_of(int operand) const;
    ExprPtr extent(const Dim& dim) const;

    /// With the body and the rest of the definition set by the caller.
    egraph::Operator finish() &&;

    Definition definition;

private:
    std::string unused(const std::string& wanted) const;

    Symbols symbols_;
    TensorType result_;
};

/// As the definition writes it, which has the symbol among its dims.
ExprPtr extent_of(const Definition& definition, const Dim& dim);
/// Iterators 0, 1, .. as a map.
std::vector<ExprPtr> straight_map(size_t rank);

}  // namespace tessera::rules
