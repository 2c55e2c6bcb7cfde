#include "search/egraph/block_terms.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::egraph {
namespace {

Operator operator_of(const Graph& graph, const Node& node) {
    Operator op{.what = Leaf{}, .results = {}, .updates = node.previous.has_value()};
    if (const auto* definition = std::get_if<DefinitionPtr>(&node.op))
        op.what = *definition;
    else
        op.what = std::get<Composite>(node.op);
    for (const ValueId result : node.results) op.results.push_back(graph[result].type);
    return op;
}

}  // namespace

BlockTerms add_block(EGraph& egraph, const Graph& graph, const Block& block, BlockTerms terms) {
    const auto term_of = [&](ValueId value) {
        const auto known = terms.values.find(value);
        if (known != terms.values.end()) return known->second;
        const Value& read = graph[value];
        const TermId leaf = egraph.add(
            Operator{.what = Leaf{read.kind, read.name, read.is_finite}, .results = {read.type}}, {});
        terms.values.emplace(value, leaf);
        return leaf;
    };
    for (const Node& node : block.nodes) {
        std::vector<TermId> children;
        for (const ValueId operand : node.operands) children.push_back(term_of(operand));
        if (node.previous) children.push_back(term_of(*node.previous));
        const TermId made = egraph.add(operator_of(graph, node), std::move(children));
        if (node.results.size() == 1) {
            terms.values[node.results.front()] = made;
            continue;
        }
        for (size_t i = 0; i < node.results.size(); ++i) {
            const Operator result{.what = Projection{static_cast<int>(i)},
                                  .results = {graph[node.results[i]].type}};
            terms.values[node.results[i]] = egraph.add(result, {made});
        }
    }
    return terms;
}

}  // namespace tessera::egraph
