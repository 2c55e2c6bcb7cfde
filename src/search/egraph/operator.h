#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"

/// An e-graph over the operators of the IR (docs/egraph.md): a set of terms, of which equal ones lie in one
/// e-class.
namespace tessera::egraph {

/// A leaf of terms: an input, constant or state, or the value that another block carries in.
struct Leaf {
    ValueKind kind = ValueKind::kInput;
    std::string name;
    bool is_finite = false;  ///< of a constant: as its value
    bool operator==(const Leaf&) const = default;
};

/// One result of an operator that has several.
struct Projection {
    int result = 0;
    bool operator==(const Projection&) const = default;
};

/// The operation of an e-node on its children, which are operands in the order of the definition.
struct Operator {
    std::variant<Leaf, DefinitionPtr, Composite, Projection> what;
    std::vector<TensorType> results;  ///< with their layouts; a projection or a leaf has one
    bool updates = false;             ///< the last child is the previous contents of the result

    const Definition* definition() const {
        const auto* d = std::get_if<DefinitionPtr>(&what);
        return d ? d->get() : nullptr;
    }
};

/// A text that is the same for two operators if they do the same: definitions by structure, whatever their
/// operator, iterators and tensors are called.
std::string key(const Operator& op);
/// A short name for people: "matmul", "rms_norm", "%x", "result 1".
std::string label(const Operator& op);

}  // namespace tessera::egraph
