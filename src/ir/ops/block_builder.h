#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace tessera::ops {

/// Appends nodes to one block of a graph. Both must outlive the builder.
class BlockBuilder {
public:
    /// `rounding`: that of results narrower than F32; a graph in which these are kExact fails verification.
    BlockBuilder(Graph& graph, Block& block, Rounding rounding = Rounding::kExact)
        : graph_(graph), block_(block), rounding_(rounding) {}

    /// A structured node whose only result becomes a new value of the node's name. `operands` are in the
    /// definition's order: index operands and operands.
    ValueId add(const std::string& name, const DefinitionPtr& op, std::vector<ValueId> operands);
    /// As `add`, for a node with several results: values "NAME_RESULT", in the definition's order.
    std::vector<ValueId> add_all(const std::string& name, const DefinitionPtr& op,
                                 std::vector<ValueId> operands);
    /// As `add`, into a value that exists.
    void add_into(const std::string& name, const DefinitionPtr& op, std::vector<ValueId> operands,
                  ValueId result);
    /// An `update` of a state: the new contents become the value "NAME_new", and the block's state.
    ValueId update(const std::string& name, const DefinitionPtr& op, std::vector<ValueId> operands,
                   ValueId state);
    /// As `update`, for a recurrence: its other results become values of these names, in the definition's
    /// order.
    std::vector<ValueId> carry(const std::string& name, const DefinitionPtr& op,
                               std::vector<ValueId> operands, ValueId state,
                               const std::vector<std::string>& names);
    /// A composite with one result of this type.
    ValueId add(const std::string& name, Composite composite, std::vector<ValueId> operands, TensorType type);

    ValueId value(Value value);
    const Graph& graph() const { return graph_; }

private:
    Graph& graph_;
    Block& block_;
    Rounding rounding_;
};

}  // namespace tessera::ops
