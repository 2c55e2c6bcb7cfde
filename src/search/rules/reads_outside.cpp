#include "search/rules/reads_outside.h"

#include <algorithm>

#include "ir/quasi_affine.h"

namespace tessera::rules {
namespace {

/// True if the component is the same at all values of the symbols.
bool is_free_of_symbols(const Definition& definition, const ExprPtr& component) {
    bool is_free = true;
    walk(component, [&](const Expr& node) {
        const auto* iterator = std::get_if<IteratorRef>(&node.node);
        is_free = is_free && !std::holds_alternative<DimRef>(node.node) &&
                  (!iterator || std::holds_alternative<Number>(
                                    definition.iterators[static_cast<size_t>(iterator->index)].extent->node));
        return true;
    });
    return is_free;
}

}  // namespace

bool Margins::are_empty() const {
    const auto is_zero = [](int64_t margin) { return margin == 0; };
    return std::ranges::all_of(before, is_zero) && std::ranges::all_of(after, is_zero);
}

std::optional<Margins> margins_of(const Definition& definition, int tensor, const std::vector<Dim>& shape,
                                  const BoundExtents& extents, const std::string& where) {
    Margins margins{.before = std::vector<int64_t>(shape.size(), 0),
                    .after = std::vector<int64_t>(shape.size(), 0)};
    for (const std::vector<ExprPtr>& access : accesses(definition, tensor))
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const QuasiAffine form = quasi_affine(access[axis], extents.dims, extents.iterators, where);
            if (is_indirect(form)) continue;  // indices that lead outside are refused
            const IntegerInterval range = enclosing_range(form, extents.iterators, where);
            const int64_t extent = extents.shapes[static_cast<size_t>(tensor)][axis];
            if (range.low >= 0 && range.high < extent) continue;
            if (!shape[axis].is_constant() || !is_free_of_symbols(definition, access[axis]))
                return std::nullopt;
            margins.before[axis] = std::max(margins.before[axis], -range.low);
            margins.after[axis] = std::max(margins.after[axis], range.high - extent + 1);
        }
    return margins;
}

}  // namespace tessera::rules
