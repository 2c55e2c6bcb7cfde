#include "search/rules/reads_outside.h"

#include <algorithm>
#include <set>

#include "ir/quasi_affine.h"

namespace tessera::rules {
namespace {

/// The dims on which extents of these iterators, and of the shape along an axis, depend.
std::set<int> dims_of_access(const Definition& definition, const ExprPtr& component, const ExprPtr& extent) {
    std::set<int> dims;
    const auto add = [&](const Expr& node) {
        if (const auto* dim = std::get_if<DimRef>(&node.node)) dims.insert(dim->index);
        return true;
    };
    walk(component, add);
    walk(extent, add);
    for (const int x : iterators_in(component))
        walk(definition.iterators[static_cast<size_t>(x)].extent, add);
    return dims;
}

/// True if what lies outside along the axis is the same for all values of the symbols if it is so for two:
/// the ends of the access and of the axis are no function of a symbol, or a straight one of a single one.
bool is_straight(const Definition& definition, const ExprPtr& component, const ExprPtr& extent,
                 const QuasiAffine& form) {
    const size_t dims = dims_of_access(definition, component, extent).size();
    const auto is_iterator = [](const QuasiTerm& term) {
        return term.atom.kind == QuasiAtom::Kind::kIterator;
    };
    return dims == 0 || (dims == 1 && std::ranges::all_of(form.terms, is_iterator));
}

}  // namespace

bool Margins::are_empty() const {
    const auto is_zero = [](int64_t margin) { return margin == 0; };
    return std::ranges::all_of(before, is_zero) && std::ranges::all_of(after, is_zero);
}

Margins margins_of(const Definition& definition, int tensor, const BoundExtents& extents,
                   const std::string& where) {
    const std::vector<int64_t>& shape = extents.shapes[static_cast<size_t>(tensor)];
    Margins margins{.before = std::vector<int64_t>(shape.size(), 0),
                    .after = std::vector<int64_t>(shape.size(), 0)};
    for (const std::vector<ExprPtr>& access : accesses(definition, tensor))
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const QuasiAffine form = quasi_affine(access[axis], extents.dims, extents.iterators, where);
            if (is_indirect(form)) continue;
            const IntegerInterval range = enclosing_range(form, extents.iterators, where);
            margins.before[axis] = std::max(margins.before[axis], -range.low);
            margins.after[axis] = std::max(margins.after[axis], range.high - shape[axis] + 1);
        }
    return margins;
}

std::optional<Margins> steady_margins_of(const Definition& definition, int tensor, const BoundExtents& low,
                                         const BoundExtents& high, const std::string& where) {
    const Margins margins = margins_of(definition, tensor, low, where);
    if (margins != margins_of(definition, tensor, high, where)) return std::nullopt;
    const auto& shape = definition.tensors[static_cast<size_t>(tensor)].shape;
    for (const std::vector<ExprPtr>& access : accesses(definition, tensor))
        for (size_t axis = 0; axis < access.size(); ++axis) {
            if (margins.before[axis] == 0 && margins.after[axis] == 0) continue;
            const QuasiAffine form = quasi_affine(access[axis], high.dims, high.iterators, where);
            const ExprPtr extent = shape ? (*shape)[axis] : nullptr;
            if (!is_indirect(form) && !is_straight(definition, access[axis], extent, form))
                return std::nullopt;
        }
    return margins;
}

}  // namespace tessera::rules
