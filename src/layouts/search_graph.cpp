#include "layouts/search_graph.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "movement/views.h"
#include "plan/constants.h"
#include "planner/grouping.h"

namespace tessera::layouts {
namespace {

using egraph::Operator;
using egraph::TermId;

/// Nodes of the block's softmax chains.
std::set<const Node*> in_chains(const Graph& graph, const Block& block) {
    std::set<const Node*> nodes;
    for (const Group& group : group_nodes(BlockView(graph, block)))
        if (group.softmax) nodes.insert(group.nodes.begin(), group.nodes.end());
    return nodes;
}

bool is_searched(const Graph& graph, const Node& node, const std::set<const Node*>& chains) {
    const bool reads_of_the_step = std::ranges::any_of(
        node.operands, [&](ValueId operand) { return graph[operand].kind != ValueKind::kConstant; });
    return reads_of_the_step && !node.previous && node.results.size() == 1 && !is_view(*node.definition()) &&
           !chains.contains(&node);
}

class Builder {
public:
    Builder(const Graph& graph, const Plan& initial) : graph_(graph), initial_(initial) {
        out_.values.resize(initial.specialisations.size());
        for (const Block& block : graph.blocks) chains_.push_back(in_chains(graph, block));
        for (size_t b = 0; b < graph.blocks.size(); ++b)
            for (const Node& node : graph.blocks[b].nodes)
                if (!is_searched(graph, node, chains_[b]))
                    given_.insert(node.operands.begin(), node.operands.end());
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
            Operator op{.what = Composite{.kind = "as given", .attributes = {{"node", node.name}}},
                        .results = {}};
            if (is_searched(graph_, node, chains_[at.block])) op.what = std::get<DefinitionPtr>(node.op);
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
        const BlockView view(graph_, block);
        for (const ValueId value : made)
            if (view.escapes(value)) out_.roots.push_back(values.at(value));
    }

    /// What the block did not make is a leaf.
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
        const std::string name = fmt::format("{}/{}/{}", initial_.specialisations[at.specialisation].name,
                                             graph_.blocks[at.block].name, read.name);
        const TermId leaf =
            out_.egraph.add(Operator{.what = egraph::Leaf{read.kind, name}, .results = {type_of(value)}}, {});
        out_.leaves.emplace(out_.egraph.term(leaf).op, at);
        return leaf;
    }

    TensorType type_of(ValueId value) const {
        TensorType type = graph_[value].type;
        type.layout = {};
        if (graph_[value].kind == ValueKind::kState || given_.contains(value))
            type.layout = stored_layout(initial_, state_behind(value));
        return type;
    }

    /// The name of the state that the value is the new contents of; its own otherwise.
    const std::string& state_behind(ValueId value) const {
        for (const Block& block : graph_.blocks)
            for (const StateUpdate& update : block.states)
                if (update.after == value) return graph_[update.before].name;
        return graph_[value].name;
    }

    const Graph& graph_;
    const Plan& initial_;
    std::vector<std::set<const Node*>> chains_;
    std::set<ValueId> given_;  ///< read by operators that are not searched
    SearchGraph out_;
};

}  // namespace

SearchGraph search_graph(const Graph& graph, const Plan& initial) {
    return Builder(graph, initial).run();
}

}  // namespace tessera::layouts
