#include "ir/graph.h"

#include "support/error.h"

namespace tessera {

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

}  // namespace tessera
