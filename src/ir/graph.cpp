#include "ir/graph.h"

#include "support/error.h"

namespace tessera {

std::string_view name(ValueKind kind) {
    switch (kind) {
        case ValueKind::kInput:
            return "input";
        case ValueKind::kConstant:
            return "constant";
        case ValueKind::kState:
            return "state";
        case ValueKind::kIntermediate:
            break;
    }
    return "value";
}

std::vector<int64_t> Value::part_shape(size_t part) const {
    std::vector<int64_t> shape = evaluate(type.shape, {});
    if (concatenation) shape[concatenation->axis] = concatenation->extents[part];
    return shape;
}

const Node* Block::find(std::string_view node_name) const {
    for (const Node& node : nodes)
        if (node.name == node_name) return &node;
    return nullptr;
}

const Node& Block::node(std::string_view node_name) const {
    const Node* found = find(node_name);
    TESSERA_CHECK(found, "block {} has no operator {}", name, node_name);
    return *found;
}

std::optional<ValueId> Graph::find(std::string_view value_name) const {
    for (size_t i = 0; i < values.size(); ++i)
        if (values[i].name == value_name) return ValueId{static_cast<int>(i)};
    return std::nullopt;
}

const DimSymbol* Graph::symbol(std::string_view symbol_name) const {
    for (const DimSymbol& symbol : symbols)
        if (symbol.name == symbol_name) return &symbol;
    return nullptr;
}

int64_t evaluate(const Dim& dim, const std::map<std::string, int64_t>& symbols) {
    if (dim.is_constant()) return dim.factor;
    const auto found = symbols.find(*dim.symbol);
    TESSERA_CHECK(found != symbols.end(), "symbol {} has no value", *dim.symbol);
    return dim.factor * found->second;
}

std::vector<int64_t> evaluate(const std::vector<Dim>& shape, const std::map<std::string, int64_t>& symbols) {
    std::vector<int64_t> extents;
    for (const Dim& dim : shape) extents.push_back(evaluate(dim, symbols));
    return extents;
}

std::vector<int64_t> dims_of(const Definition& definition, const std::map<std::string, int64_t>& symbols) {
    std::vector<int64_t> values;
    for (const DimSymbol& dim : definition.dims) values.push_back(evaluate(Dim(dim.name), symbols));
    return values;
}

ValueId state_of(const Graph& graph, ValueId value) {
    for (const Block& block : graph.blocks) {
        for (const StateUpdate& state : block.states)
            if (state.after == value) return state.before;
    }
    return value;
}

void drop_values(Graph& graph, const std::set<ValueId>& values) {
    std::vector<int> index(graph.values.size(), -1);
    std::vector<Value> kept;
    for (size_t i = 0; i < graph.values.size(); ++i) {
        if (values.contains({static_cast<int>(i)})) continue;
        index[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(graph.values[i]));
    }
    graph.values = std::move(kept);
    const auto renumber = [&](ValueId& value) { value.index = index[static_cast<size_t>(value.index)]; };
    for (ValueId& output : graph.outputs) renumber(output);
    for (Block& block : graph.blocks) {
        if (block.carried_in) renumber(*block.carried_in);
        if (block.carried_out) renumber(*block.carried_out);
        for (StateUpdate& update : block.states) {
            renumber(update.before);
            renumber(update.after);
        }
        for (Node& node : block.nodes) {
            for (ValueId& operand : node.operands) renumber(operand);
            for (ValueId& result : node.results) renumber(result);
            if (node.previous) renumber(*node.previous);
        }
    }
}

}  // namespace tessera
