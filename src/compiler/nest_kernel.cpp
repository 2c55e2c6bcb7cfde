#include "compiler/nest_kernel.h"

#include "lowering/storage.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

const Node& node_of(const Graph& graph, const std::string& name) {
    for (const Block& block : graph.blocks)
        if (const Node* node = block.find(name)) return *node;
    TESSERA_CHECK(false, "{} is no operator", name);
}

/// The definition with the names that the graph gives to operator and tensors.
DefinitionFile operator_of(const Graph& graph, const Node& node,
                           const std::map<std::string, int64_t>& symbols) {
    DefinitionFile file{.definition = *node.definition(), .test = {}, .lines = {}};
    Definition& definition = file.definition;
    definition.name = node.name;
    std::set<ValueId> seen;
    for (size_t t = 0; t < definition.tensors.size(); ++t) {
        TensorDecl& tensor = definition.tensors[t];
        if (tensor.role == Role::kUpdate)
            throw Error(node.name, tensor.name, "is updated, which published models do not know");
        if (tensor.role == Role::kIndex)
            throw Error(node.name, tensor.name, "chooses elements, which published models do not know");
        const ValueId value = lowering::value_of(node, static_cast<int>(t));
        if (!seen.insert(value).second)
            throw Error(node.name, graph[value].name,
                        "is read as two operands, which published models do not know");
        tensor.name = graph[value].name;
    }
    for (const DimSymbol& dim : definition.dims) file.test.bind[dim.name] = symbols.at(dim.name);
    return file;
}

nests::WrittenNest with_units(const Graph& graph, const plan::Nest& nest) {
    nests::WrittenNest written = nest::translated<nests::WrittenNest>(
        nest, [](const plan::Nest&, const plan::LoopTile& loop) { return loop.iterator; },
        [](const plan::Leaf& leaf) { return nest::WrittenOperator{leaf.node}; });
    const Definition& root = *node_of(graph, nest.root().node).definition();
    bool is_unit = true;
    for (nests::WrittenNest::Loop& loop : written.loops) {
        is_unit = is_unit && !root.iterators[static_cast<size_t>(root.iterator(loop.iterator))].is_reduction;
        loop.bind = is_unit ? nest::Bind::kUnit : nest::Bind::kSerial;
    }
    return written;
}

}  // namespace

NestKernel nest_kernel(const Graph& graph, const plan::Nest& nest,
                       const std::map<std::string, int64_t>& symbols, const std::set<std::string>& tiles) {
    nests::KernelFile file;
    file.where = nest.root().node;
    std::vector<std::string> visible;
    for (const plan::Leaf* leaf : plan::leaves(nest)) {
        const Node& node = node_of(graph, leaf->node);
        file.operators.push_back(operator_of(graph, node, symbols));
        if (leaf == &nest.root()) continue;
        for (const ValueId result : node.results)
            if (!tiles.contains(graph[result].name)) visible.push_back(graph[result].name);
    }
    return {nests::make_kernel(file), std::move(visible), with_units(graph, nest)};
}

}  // namespace tessera::compiler
