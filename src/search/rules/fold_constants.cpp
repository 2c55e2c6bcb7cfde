#include "search/rules/fold_constants.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "search/egraph/block_terms.h"
#include "search/rules/algebra/families.h"

namespace tessera::rules {
namespace {

using egraph::ClassId;
using egraph::EGraph;
using egraph::Leaf;
using egraph::Operator;
using egraph::TermId;

/// The number of node operands that each value is.
std::map<ValueId, int> readers_of(const Graph& graph) {
    std::map<ValueId, int> readers;
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            for (const ValueId operand : node.operands) ++readers[operand];
    return readers;
}

/// The axis of a node that concatenates; empty for any other node.
std::optional<size_t> joined_axis(const Graph& graph, const Node& node, const egraph::FamilyPtr& concat) {
    const auto* definition = std::get_if<DefinitionPtr>(&node.op);
    if (!definition || node.previous) return {};
    const auto attributes =
        concat->recognise(Operator{.what = *definition, .results = {graph[node.results.front()].type}});
    if (!attributes) return {};
    return static_cast<size_t>(std::get<int64_t>(attributes->at("axis")));
}

/// Extents along the axis, part by part.
std::vector<int64_t> extents_of(const Value& constant, size_t axis) {
    if (constant.concatenation) return constant.concatenation->extents;
    return {constant.type.shape[axis].factor};
}

/// True if the contents of both can lie behind each other in one constant.
bool fit(const Value& a, const Value& b, size_t axis) {
    const auto fits = [&](const Value& value) {
        return value.kind == ValueKind::kConstant && bits(value.type.element) >= 8 &&
               (!value.concatenation || value.concatenation->axis == axis);
    };
    return fits(a) && fits(b) && a.repetitions() == b.repetitions();
}

Value joined(const Value& a, const Value& b, size_t axis) {
    Value both{
        .name = fmt::format("{}_and_{}", a.name, b.name), .kind = ValueKind::kConstant, .type = a.type};
    both.type.shape[axis].factor += b.type.shape[axis].factor;
    both.is_finite = a.is_finite && b.is_finite;
    both.concatenation = {.axis = axis, .extents = extents_of(a, axis)};
    const std::vector<int64_t> more = extents_of(b, axis);
    both.concatenation->extents.insert(both.concatenation->extents.end(), more.begin(), more.end());
    for (int64_t r = 0; r < a.repetitions(); ++r)
        for (const Value* each : {&a, &b})
            for (size_t part = 0; part < each->parts(); ++part) both.sources.push_back(each->source(r, part));
    return both;
}

}  // namespace

ConstantFolding::ConstantFolding(const Graph& graph, size_t block)
    : block_(block), concat_(rules::concats(graph.symbols)) {
    std::map<ValueId, int> readers = readers_of(graph);
    for (const Node& node : graph.blocks[block].nodes)
        for (const ValueId operand : node.operands) {
            const Value& value = graph[operand];
            if (value.kind == ValueKind::kConstant && readers[operand] == 1) joinable_.insert(value.name);
        }
}

bool ConstantFolding::folds(const EGraph& egraph, TermId node) {
    if (egraph.term(node).children.size() != 2 || !concat_->recognise(egraph.op(node))) return false;
    const std::vector<TermId>& parts = egraph.term(node).children;
    return std::all_of(parts.begin(), parts.end(),
                       [&](TermId part) { return can_join(egraph, egraph.find(part)); });
}

bool ConstantFolding::can_join(const EGraph& egraph, ClassId e_class) {
    const std::vector<TermId>& nodes = egraph.nodes(e_class);
    return egraph.facts(e_class).is_constant && std::any_of(nodes.begin(), nodes.end(), [&](TermId node) {
               const auto* leaf = std::get_if<Leaf>(&egraph.op(node).what);
               return leaf ? joinable_.contains(leaf->name) : folds(egraph, node);
           });
}

std::optional<Graph> ConstantFolding::fold(Graph graph) const {
    std::vector<Node>& nodes = graph.blocks[block_].nodes;
    std::vector<Node> kept;
    std::set<ValueId> parts;
    const std::vector<ValueId> needed = egraph::needed_values(graph, block_);
    const auto is_constant = [&](ValueId value) { return graph[value].kind == ValueKind::kConstant; };
    for (Node& node : nodes) {
        const auto axis = joined_axis(graph, node, concat_);
        const bool is_needed = std::find(needed.begin(), needed.end(), node.results.front()) != needed.end();
        if (!axis || is_needed || !std::all_of(node.operands.begin(), node.operands.end(), is_constant)) {
            kept.push_back(std::move(node));
            continue;
        }
        const Value &a = graph[node.operands[0]], &b = graph[node.operands[1]];
        if (!fit(a, b, *axis)) return {};
        Value both = joined(a, b, *axis);
        while (graph.find(both.name)) both.name += '_';
        graph.values[static_cast<size_t>(node.results.front().index)] = std::move(both);
        parts.insert(node.operands.begin(), node.operands.end());
    }
    nodes = std::move(kept);
    const std::map<ValueId, int> readers = readers_of(graph);
    if (std::any_of(parts.begin(), parts.end(), [&](ValueId part) { return readers.contains(part); }))
        return {};
    drop_values(graph, parts);
    return graph;
}

}  // namespace tessera::rules
