#include "search/layouts/search_graph.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "lowering/plan/constants.h"
#include "lowering/views.h"
#include "search/planner/grouping.h"

namespace tessera::layouts {
namespace {

using egraph::Operator;
using egraph::TermId;

constexpr const char* kWhyLeftAlone = "why";

/// Operands whose storage the result may take over, judged from the operator alone.
std::vector<ValueId> replaceable(const Node& node) {
    std::vector<ValueId> values;
    const Definition& definition = *node.definition();
    for (int t = 0; t < static_cast<int>(node.operands.size()); ++t)
        if (definition.tensors[static_cast<size_t>(t)].role == Role::kIn &&
            lowering::may_be_in_place(definition, t))
            values.push_back(node.operands[static_cast<size_t>(t)]);
    return values;
}

/// Operators through which the carried value of a repeated block may pass in place: its layout must not
/// change there.
std::set<const Node*> on_the_way(const Block& block) {
    std::set<const Node*> found;
    if (block.repeat == 1 || !block.carried_in || !block.carried_out) return found;
    std::set<ValueId> from_begin = {*block.carried_in}, to_end = {*block.carried_out};
    for (const Node& node : block.nodes)
        for (const ValueId value : replaceable(node))
            if (from_begin.contains(value)) from_begin.insert(node.results.front());
    for (auto node = block.nodes.rbegin(); node != block.nodes.rend(); ++node) {
        if (!to_end.contains(node->results.front())) continue;
        for (const ValueId value : replaceable(*node)) to_end.insert(value);
        if (from_begin.contains(node->results.front())) found.insert(&*node);
    }
    return found;
}

/// Operators that the search leaves alone, with the reason.
using LeftAlone = std::map<const Node*, std::string>;

LeftAlone left_alone(const Graph& graph, const Block& block, const std::set<const Node*>& fused) {
    LeftAlone reasons;
    for (const Node* node : on_the_way(block))
        reasons[node] = "what the block carries passes its operator in place";
    for (const Node& node : block.nodes) {
        if (fused.contains(&node)) reasons[&node] = "its operator is fused with others";
        if (std::ranges::all_of(node.operands,
                                [&](ValueId operand) { return graph[operand].kind == ValueKind::kConstant; }))
            reasons[&node] = "its operator reads constants alone";
        if (lowering::is_view(*node.definition())) reasons[&node] = "its operator only renames elements";
        if (node.results.size() > 1) reasons[&node] = "its operator has several results";
        if (node.previous) reasons[&node] = "it updates a state";
    }
    return reasons;
}

class Builder {
public:
    Builder(const Graph& graph, const plan::Plan& initial, const std::set<const Node*>& fused)
        : graph_(graph), initial_(initial) {
        out_.values.resize(initial.specialisations.size());
        for (const Block& block : graph.blocks) left_alone_.push_back(left_alone(graph, block, fused));
        for (size_t b = 0; b < graph.blocks.size(); ++b)
            for (const Node& node : graph.blocks[b].nodes)
                if (left_alone_[b].contains(&node)) given_.insert(node.operands.begin(), node.operands.end());
    }

    SearchGraph run() {
        for (size_t s = 0; s < out_.values.size(); ++s)
            for (size_t b = 0; b < graph_.blocks.size(); ++b) add({s, b});
        out_.egraph.rebuild();
        return std::move(out_);
    }

private:
    void add(const Instance& at) {
        const Block& block = graph_.blocks[at.block];
        auto& values = out_.values[at.specialisation];
        std::set<ValueId> made;
        for (const Node& node : block.nodes) {
            std::vector<TermId> children;
            for (const ValueId operand : node.operands) children.push_back(term_of(operand, made, at));
            if (node.previous) children.push_back(term_of(*node.previous, made, at));
            Operator op{.what = std::get<DefinitionPtr>(node.op), .results = {}};
            if (const auto reason = left_alone_[at.block].find(&node);
                reason != left_alone_[at.block].end()) {
                op.what = Composite{.kind = "as given",
                                    .attributes = {{"node", node.name}, {kWhyLeftAlone, reason->second}}};
                // Else those of constants were constants.
                children.push_back(leaf(ValueKind::kInput, {}, "", at));
            }
            for (const ValueId result : node.results) op.results.push_back(type_of(result));
            const TermId term = out_.egraph.add(op, std::move(children));
            for (size_t i = 0; i < node.results.size(); ++i) {
                made.insert(node.results[i]);
                values[node.results[i]] =
                    node.results.size() == 1
                        ? term
                        : out_.egraph.add(Operator{.what = egraph::Projection{static_cast<int>(i)},
                                                   .results = {type_of(node.results[i])}},
                                          {term});
            }
        }
        const planner::BlockView view(graph_, block);
        for (const ValueId value : made)
            if (view.escapes(value)) out_.roots.push_back(values.at(value));
    }

    TermId leaf(ValueKind kind, const TensorType& type, const std::string& name, const Instance& at) {
        const std::string full = fmt::format("{}/{}/{}", initial_.specialisations[at.specialisation].name,
                                             graph_.blocks[at.block].name, name);
        const TermId term =
            out_.egraph.add(Operator{.what = egraph::Leaf{kind, full}, .results = {type}}, {});
        out_.leaves.emplace(out_.egraph.term(term).op, at);
        return term;
    }

    /// A value that the block did not make is a leaf.
    TermId term_of(ValueId value, const std::set<ValueId>& made, const Instance& at) {
        if (made.contains(value)) return out_.values[at.specialisation].at(value);
        const Value& read = graph_[value];
        if (read.kind == ValueKind::kConstant) {
            const auto [known, is_new] = out_.constants.try_emplace(value);
            if (is_new)
                known->second = out_.egraph.add(
                    Operator{.what = egraph::Leaf{read.kind, read.name}, .results = {type_of(value)}}, {});
            return known->second;
        }
        return leaf(read.kind, type_of(value), read.name, at);
    }

    TensorType type_of(ValueId value) const {
        TensorType type = graph_[value].type;
        type.layout = {};
        if (graph_[value].kind == ValueKind::kState || given_.contains(value))
            type.layout = plan::stored_layout(initial_, graph_[state_of(graph_, value)].name);
        return type;
    }

    const Graph& graph_;
    const plan::Plan& initial_;
    std::vector<LeftAlone> left_alone_;  ///< by block
    std::set<ValueId> given_;            ///< read by operators that are not searched
    SearchGraph out_;
};

}  // namespace

SearchGraph search_graph(const Graph& graph, const plan::Plan& initial, const std::set<const Node*>& fused) {
    return Builder(graph, initial, fused).run();
}

std::string why_left_alone(const egraph::EGraph& graph, TermId term) {
    if (std::holds_alternative<egraph::Projection>(graph.op(term).what))
        term = graph.term(term).children.front();
    const auto* given = std::get_if<Composite>(&graph.op(term).what);
    return given ? std::get<std::string>(given->attributes.at(kWhyLeftAlone)) : "";
}

}  // namespace tessera::layouts
