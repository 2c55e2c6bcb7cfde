#pragma once

#include <span>
#include <string_view>

#include "ir/graph.h"
#include "ir/ops/block_builder.h"

namespace tessera::ops {

/// A kind of composite operators. The meaning of a composite is its decomposition.
struct CompositeKind {
    std::string_view kind;  ///< Composite::kind
    /// Appends structured nodes that make the node's results; their names and those of new values start with
    /// the node's name and `_`. @throws Error naming the operand or attribute that is wrong.
    void (*decompose)(BlockBuilder& block, const Node& node);
    /// A graph of one such node (docs/ir.md), small enough to be interpreted.
    const char* example;
};

/// All composites, by kind.
std::span<const CompositeKind> composite_kinds();

/// An attribute of a composite. @throws Error naming it if it is missing or has another type.
int64_t integer_attribute(const Node& node, const std::string& attribute);
double real_attribute(const Node& node, const std::string& attribute);
const std::string& text_attribute(const Node& node, const std::string& attribute);

/// The type of an operand, after the checks that it exists and has this rank. @throws Error.
const TensorType& operand_type(const Graph& graph, const Node& node, size_t operand, size_t rank);

}  // namespace tessera::ops
