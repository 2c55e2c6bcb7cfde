#include "ir/result_type.h"

#include <algorithm>

#include "support/error.h"

namespace tessera {
namespace {

bool reads_dims(const ExprPtr& root) {
    bool found = false;
    walk(root, [&](const Expr& expr) {
        found |= std::holds_alternative<DimRef>(expr.node);
        return true;
    });
    return found;
}

std::optional<Dim> product(const Dim& a, const Dim& b) {
    if (a.is_constant())
        return b.is_constant() ? Dim(a.factor * b.factor) : Dim(*b.symbol, a.factor * b.factor);
    if (b.is_constant()) return Dim(*a.symbol, a.factor * b.factor);
    return std::nullopt;
}

/// A number, a dim, or a product of which at most one factor is a dim.
std::optional<Dim> extent_of(const Definition& definition, const ExprPtr& expr) {
    if (!reads_dims(expr)) return Dim(evaluate_constant(expr, {}));
    if (const auto* dim = std::get_if<DimRef>(&expr->node))
        return Dim(definition.dims[static_cast<size_t>(dim->index)].name);
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call || call->function != Function::kMul) return std::nullopt;
    const auto left = extent_of(definition, call->arguments[0]);
    const auto right = extent_of(definition, call->arguments[1]);
    return left && right ? product(*left, *right) : std::nullopt;
}

/// 1 + the largest value of a map component; the definition with its dims at their bounds gives it where no
/// dim is read.
std::optional<Dim> extent_of_component(const Definition& definition, int tensor, size_t axis) {
    const ExprPtr& component = definition.tensors[static_cast<size_t>(tensor)].map[axis];
    if (const auto* iterator = std::get_if<IteratorRef>(&component->node))
        return extent_of(definition, definition.iterators[static_cast<size_t>(iterator->index)].extent);
    if (reads_dims(component)) return std::nullopt;
    for (const int index : iterators_in(component))
        if (reads_dims(definition.iterators[static_cast<size_t>(index)].extent)) return std::nullopt;
    std::vector<int64_t> high;
    for (const DimSymbol& dim : definition.dims) high.push_back(dim.high);
    return Dim(bound_extents(definition, high, definition.name).shapes[static_cast<size_t>(tensor)][axis]);
}

std::optional<Dim> extent_of_axis(const Definition& definition, int tensor, size_t axis) {
    const TensorDecl& declared = definition.tensors[static_cast<size_t>(tensor)];
    return declared.shape ? extent_of(definition, (*declared.shape)[axis])
                          : extent_of_component(definition, tensor, axis);
}

}  // namespace

TensorType type_of(const Definition& definition, int tensor, const std::string& where) {
    const TensorDecl& declared = definition.tensors[static_cast<size_t>(tensor)];
    TensorType type{.element = declared.type, .accumulator = definition.accumulator};
    for (size_t axis = 0; axis < declared.map.size(); ++axis) {
        const auto extent = extent_of_axis(definition, tensor, axis);
        if (!extent)
            throw Error(where, declared.name,
                        fmt::format("axis {} has an extent that is no multiple of one symbol", axis),
                        "state the shape with `of`");
        type.shape.push_back(*extent);
    }
    return type;
}

std::optional<std::vector<Dim>> shape_of(const Definition& definition, int tensor) {
    std::vector<Dim> shape;
    for (size_t axis = 0; axis < definition.tensors[static_cast<size_t>(tensor)].map.size(); ++axis) {
        const auto extent = extent_of_axis(definition, tensor, axis);
        if (!extent) return std::nullopt;
        shape.push_back(*extent);
    }
    return shape;
}

}  // namespace tessera
