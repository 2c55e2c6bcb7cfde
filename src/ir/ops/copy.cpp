#include "ir/ops/copy.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tessera::ops {
namespace {

/// @param role of the result
DefinitionPtr moved(Symbols symbols, const TensorType& type, const std::string& op, const char* role) {
    std::vector<std::string> iterators, axes;
    for (size_t i = 0; i < type.shape.size(); ++i) {
        axes.push_back(fmt::format("x{}", i));
        iterators.push_back(fmt::format("{}: {}", axes.back(), text(type.shape[i])));
    }
    return define(symbols,
                  fmt::format("op {0}({1})\nin  X {2}[{3}]\n{4} Y {2}[{3}] = X\n", op,
                              fmt::join(iterators, ", "), name(type.element), fmt::join(axes, ", "), role));
}

}  // namespace

DefinitionPtr copy(Symbols symbols, const TensorType& type) {
    return moved(symbols, type, "copy", "out");
}

DefinitionPtr overwrite(Symbols symbols, const TensorType& type) {
    return moved(symbols, type, "overwrite", "update");
}

bool is_copy(const Definition& definition) {
    if (definition.tensors.size() != 2 || definition.monoid != Monoid::kNone || definition.where ||
        definition.tensors[0].role != Role::kIn || definition.tensors[1].role != Role::kOut ||
        definition.tensors[0].type != definition.tensors[1].type)
        return false;
    const auto* access = std::get_if<Read>(&definition.body.front()->node);
    const std::vector<ExprPtr>& made = definition.tensors[1].map;
    if (!access || access->coordinates.size() != definition.iterators.size() ||
        made.size() != definition.iterators.size())
        return false;
    const auto is_own = [](const ExprPtr& component, size_t i) {
        const auto* x = std::get_if<IteratorRef>(&component->node);
        return x && x->index == static_cast<int>(i);
    };
    // If the tensor has other extents, the definition pads or slices.
    const auto is_whole = [&](const TensorDecl& tensor, size_t i) {
        return !tensor.shape || same((*tensor.shape)[i], definition.iterators[i].extent);
    };
    for (size_t i = 0; i < made.size(); ++i)
        if (!is_own(made[i], i) || !is_own(access->coordinates[i], i) ||
            !is_whole(definition.tensors[0], i) || !is_whole(definition.tensors[1], i))
            return false;
    return true;
}

}  // namespace tessera::ops
