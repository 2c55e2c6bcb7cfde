#pragma once

#include <string>
#include <vector>

#include "search/egraph/e_graph.h"
#include "search/egraph/family.h"
#include "search/egraph/pattern.h"

/// Terms without meaning, over composites whose results are f32[4].
namespace tessera::egraph::toy {

inline const TensorType kType{.element = ElementType::kF32, .shape = {Dim(4)}};

inline Operator op(const std::string& kind) {
    return {.what = Composite{.kind = kind, .attributes = {}}, .results = {kType}};
}
inline Operator leaf(const std::string& name, ValueKind kind = ValueKind::kInput) {
    return {.what = Leaf{kind, name}, .results = {kType}};
}
/// Matches and makes the composites of one kind.
inline FamilyPtr family(const std::string& kind) {
    return composites(kind, [kind](const Attributes&, std::span<const TensorType>) { return op(kind); });
}
inline Pattern f(const std::string& kind, std::vector<Pattern> children) {
    return apply(family(kind), {}, std::move(children));
}

}  // namespace tessera::egraph::toy
