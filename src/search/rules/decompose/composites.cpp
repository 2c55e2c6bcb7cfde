// The node is decomposed alone in a graph, and the resulting nodes are added as terms over the classes that
// it read.
#include "search/rules/decompose/composites.h"

#include <fmt/core.h>

#include "ir/ops/composite.h"
#include "ir/ops/decompose.h"
#include "search/egraph/block_terms.h"
#include "support/error.h"

namespace tessera::rules {
namespace {

using egraph::EGraph;
using egraph::Match;
using egraph::Operator;
using egraph::TermId;

/// A graph of this operator alone, over inputs of these types.
Graph graph_of(const Operator& op, const std::vector<TensorType>& operands,
               const std::vector<DimSymbol>& symbols) {
    Graph graph;
    graph.name = "composite";
    graph.symbols = symbols;
    Node node{.name = std::get<Composite>(op.what).kind,
              .op = std::get<Composite>(op.what),
              .operands = {},
              .results = {},
              .previous = {}};
    for (const TensorType& type : operands) {
        node.operands.push_back({static_cast<int>(graph.values.size())});
        graph.values.push_back({.name = fmt::format("operand_{}", graph.values.size()),
                                .kind = ValueKind::kInput,
                                .type = type,
                                .sources = {}});
    }
    for (const TensorType& type : op.results) {
        node.results.push_back({static_cast<int>(graph.values.size())});
        graph.values.push_back({.name = fmt::format("result_{}", graph.values.size()),
                                .kind = ValueKind::kIntermediate,
                                .type = type,
                                .sources = {}});
    }
    graph.outputs = node.results;
    Block block{.name = "body"};
    block.nodes.push_back(std::move(node));
    graph.blocks.push_back(std::move(block));
    return graph;
}

std::optional<TermId> decomposed(EGraph& egraph, const Match& match, const std::vector<DimSymbol>& symbols) {
    const std::vector<TermId>& operands = match.lists.at("operands");
    const Operator op = egraph.op(match.operators.front());
    if (op.updates || op.results.size() != 1) return {};
    std::vector<TensorType> types;
    for (const TermId operand : operands) types.push_back(egraph.facts(operand).types.front());
    const Graph graph = ops::decompose(graph_of(op, types, symbols));
    egraph::BlockTerms terms;
    for (size_t i = 0; i < operands.size(); ++i) terms.values[{static_cast<int>(i)}] = operands[i];
    terms = add_block(egraph, graph, graph.blocks.front(), std::move(terms));
    return terms.values.at(graph.outputs.front());
}

}  // namespace

std::vector<RuleEntry> decomposition_rules(ops::Symbols symbols) {
    const std::vector<DimSymbol> of_graph(symbols.begin(), symbols.end());
    std::vector<RuleEntry> rules;
    for (const ops::CompositeKind& kind : ops::composite_kinds()) {
        TESSERA_CHECK(kind.example != nullptr, "{} has no example", kind.kind);
        rules.push_back(
            {.rule = egraph::Rule(
                 {.name = fmt::format("decompose-{}", kind.kind),
                  .from = egraph::apply_to_all(egraph::composites(std::string(kind.kind)), {}, "operands"),
                  .to = [of_graph](EGraph& egraph,
                                   const Match& match) { return decomposed(egraph, match, of_graph); }}),
             .exactness = Exactness::kExact,
             .example = Example(std::string(kind.example))});
    }
    return rules;
}

}  // namespace tessera::rules
