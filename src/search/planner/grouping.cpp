#include "search/planner/grouping.h"

#include <algorithm>

#include "lowering/views.h"

namespace tessera::planner {
namespace {

bool contains(const std::vector<const Node*>& nodes, const Node* node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

BlockView::BlockView(const Graph& graph, const Block& block, std::set<const Node*> copies)
    : graph_(graph), block_(block), copies_(std::move(copies)) {
    seen_behind_.insert(graph.outputs.begin(), graph.outputs.end());
    if (block.carried_out) seen_behind_.insert(*block.carried_out);
    bool is_behind = false;
    for (const Block& other : graph.blocks) {
        if (is_behind) {
            if (other.carried_in) seen_behind_.insert(*other.carried_in);
            for (const Node& node : other.nodes)
                seen_behind_.insert(node.operands.begin(), node.operands.end());
        }
        is_behind |= &other == &block;
    }
    std::map<ValueId, ValueId> view_of;
    const auto followed = [&](ValueId value) {
        for (auto at = view_of.find(value); at != view_of.end(); at = view_of.find(value)) value = at->second;
        return value;
    };
    for (const Node& node : block.nodes) {
        for (const ValueId result : node.results) producers_[result] = &node;
        if (is_view(node)) {
            view_of[node.results.front()] = followed(node.operands.front());
            producers_[node.results.front()] = producer(node.operands.front());
            continue;
        }
        for (const ValueId operand : node.operands) {
            auto& readers = readers_[followed(operand)];
            if (!contains(readers, &node)) readers.push_back(&node);
        }
        if (!node.previous) continue;
        readers_[followed(*node.previous)].push_back(&node);
        readers_[followed(*node.previous)].push_back(nullptr);  // readers of what lies in its place then
    }
    for (const auto& [view, source] : view_of) {
        if (escapes(view)) readers_[source].push_back(nullptr);
    }
}

bool BlockView::is_view(const Node& node) const {
    return tessera::lowering::is_view(*node.definition()) && !copies_.contains(&node);
}

const Node* BlockView::producer(ValueId value) const {
    const auto at = producers_.find(value);
    return at == producers_.end() ? nullptr : at->second;
}

std::vector<const Node*> BlockView::readers(ValueId value) const {
    const auto at = readers_.find(value);
    return at == readers_.end() ? std::vector<const Node*>{} : at->second;
}

bool BlockView::escapes(ValueId value) const {
    return std::any_of(block_.states.begin(), block_.states.end(),
                       [&](const StateUpdate& state) { return state.after == value; }) ||
           is_seen_behind(value);
}

bool BlockView::is_seen_behind(ValueId value) const {
    return seen_behind_.contains(value);
}

bool BlockView::is_private(const Node& node, const std::vector<const Node*>& nodes) const {
    return std::all_of(node.results.begin(), node.results.end(), [&](ValueId result) {
        if (escapes(result)) return false;
        const auto all = readers(result);
        return std::all_of(all.begin(), all.end(), [&](const Node* r) { return r && contains(nodes, r); });
    });
}

std::vector<Group> lone_groups(const BlockView& view) {
    std::vector<Group> groups;
    for (const Node& node : view.block().nodes)
        if (!view.is_view(node)) groups.push_back({{&node}});
    return groups;
}

}  // namespace tessera::planner
