#include "search/rules/algebra/map_forms.h"

#include "ir/result_type.h"

namespace tessera::rules {
namespace {

bool names_only_iterators(const ExprPtr& component) {
    bool found_other = false;
    walk(component, [&](const Expr& expr) {
        found_other |= std::holds_alternative<DimRef>(expr.node) || std::holds_alternative<Read>(expr.node);
        return true;
    });
    return !found_other;
}

/// Axis i of the result is iterator i, over its whole extent.
bool is_straight(const Definition& definition, const TensorDecl& result) {
    if (result.map.size() != definition.iterators.size()) return false;
    for (size_t axis = 0; axis < result.map.size(); ++axis) {
        const auto* x = std::get_if<IteratorRef>(&result.map[axis]->node);
        if (!x || x->index != static_cast<int>(axis)) return false;
        if (result.shape && !same((*result.shape)[axis], definition.iterators[axis].extent)) return false;
    }
    return true;
}

}  // namespace

std::optional<Renaming> recognise_renaming(const egraph::Operator& op) {
    const Definition* d = op.definition();
    if (!d || op.updates || d->where || d->monoid != Monoid::kNone || d->tensors.size() != 2) return {};
    const TensorDecl &operand = d->tensors[0], &result = d->tensors[1];
    const auto* access = std::get_if<Read>(&d->body.front()->node);
    if (!access || operand.role != Role::kIn || result.role != Role::kOut || operand.type != result.type)
        return {};
    if (!is_straight(*d, result) || !op.results.front().layout.is_row_major()) return {};
    for (const ExprPtr& component : access->coordinates)
        if (!names_only_iterators(component)) return {};
    auto from = shape_of(*d, 0);
    if (!from) return {};
    return Renaming{access->coordinates, *std::move(from), op.results.front().shape};
}

QuasiAffine normal_form(const Definition& definition, const ExprPtr& component) {
    std::vector<int64_t> dims, extents;
    for (const DimSymbol& dim : definition.dims) dims.push_back(dim.high);
    for (const Iterator& iterator : definition.iterators)
        extents.push_back(evaluate_constant(iterator.extent, dims));
    return quasi_affine(component, dims, extents, definition.name);
}

}  // namespace tessera::rules
