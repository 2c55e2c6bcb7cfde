#include "planner/grouping.h"

#include <algorithm>

#include "kernels/contraction.h"
#include "lowering/views.h"

namespace tessera::planner {
namespace {

bool contains(const std::vector<const Node*>& nodes, const Node* node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// The operand that the score reads, if it reads one only.
const Node* producer_of_scores(const Node& softmax, const BlockView& view) {
    const Definition& definition = *softmax.definition();
    const Node* found = nullptr;
    for (const Read& read : reads_in({definition.body[0]})) {
        if (definition.tensors[static_cast<size_t>(read.tensor)].role != Role::kIn) continue;
        const Node* producer = view.producer(lowering::value_of(softmax, read.tensor));
        if (!producer || (found && found != producer)) return nullptr;
        found = producer;
    }
    return found;
}

Group softmax_chain(const Node& softmax, const BlockView& view) {
    Group group{{}, &softmax, nullptr};
    const Node* scores = producer_of_scores(softmax, view);
    std::vector<const Node*> chain = {&softmax};
    if (scores && view.is_private(*scores, {&softmax})) {
        group.scores = scores;
        chain.insert(chain.begin(), scores);
        for (const ValueId operand : scores->operands) {
            const Node* gather = view.producer(operand);
            if (gather && gather->definition()->monoid == Monoid::kNone && gather->definition()->where &&
                view.is_private(*gather, {scores})) {
                chain.insert(chain.begin(), gather);
            }
        }
    }
    const ValueId weighted = softmax.results.back();
    const auto readers = view.readers(weighted);
    if (readers.size() == 1 && readers[0] && readers[0]->definition()->monoid == Monoid::kNone &&
        !view.is_view(*readers[0]) && view.is_private(softmax, {readers[0]})) {
        chain.push_back(readers[0]);
    }
    group.nodes = chain;
    return group;
}

/// Reductions and maps that a row at a time passes through; sums of products have micro-kernels of their own.
bool is_row_operator(const Node& node) {
    const Definition& d = *node.definition();
    return d.monoid != Monoid::kSoftmaxSum && kernels::contractions_of(d).empty() && !node.previous;
}

}  // namespace

BlockView::BlockView(const Graph& graph, const Block& block, std::set<const Node*> copies,
                     std::set<ValueId> whole)
    : graph_(graph), block_(block), copies_(std::move(copies)), whole_(std::move(whole)) {
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
        if (node.previous) readers_[followed(*node.previous)].push_back(&node);
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
    if (block_.carried_out == value) return true;
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end()) return true;
    bool is_behind = false;
    for (const Block& other : graph_.blocks) {
        if (is_behind && other.carried_in == value) return true;
        for (const Node& node : other.nodes) {
            if (is_behind &&
                std::find(node.operands.begin(), node.operands.end(), value) != node.operands.end())
                return true;
        }
        is_behind |= &other == &block_;
    }
    return false;
}

bool BlockView::is_private(const Node& node, const std::vector<const Node*>& nodes) const {
    return std::all_of(node.results.begin(), node.results.end(), [&](ValueId result) {
        if (escapes(result) || is_whole(result)) return false;
        const auto all = readers(result);
        return std::all_of(all.begin(), all.end(), [&](const Node* r) { return r && contains(nodes, r); });
    });
}

std::vector<Group> group_nodes(const BlockView& view) {
    std::vector<Group> groups;
    std::map<const Node*, bool> is_grouped;
    for (const Node& node : view.block().nodes) {
        if (node.definition()->monoid != Monoid::kSoftmaxSum) continue;
        Group group = softmax_chain(node, view);
        for (const Node* n : group.nodes) is_grouped[n] = true;
        groups.push_back(std::move(group));
    }
    for (const Node& node : view.block().nodes) {
        if (is_grouped[&node] || view.is_view(node)) continue;
        Group group{{&node}, nullptr, nullptr};
        is_grouped[&node] = true;
        while (is_row_operator(*group.nodes.back())) {
            // The only reader of the last operator's results.
            const Node* next = nullptr;
            for (const Node* reader : view.readers(group.nodes.back()->results.front())) {
                if (reader && !is_grouped[reader]) next = reader;
            }
            if (!next || !is_row_operator(*next) || next->definition()->where) break;
            std::vector<const Node*> readers = group.nodes;
            readers.push_back(next);
            if (!view.is_private(*group.nodes.back(), readers)) break;
            Group longer{readers, nullptr, nullptr};
            if (shared_iterators(longer, view).empty()) break;
            is_grouped[next] = true;
            group = std::move(longer);
        }
        groups.push_back(std::move(group));
    }
    in_order_of_execution(groups, view.block());
    return groups;
}

void in_order_of_execution(std::vector<Group>& groups, const Block& block) {
    const auto position = [&](const Group& g) { return g.nodes.back() - block.nodes.data(); };
    std::sort(groups.begin(), groups.end(),
              [&](const Group& a, const Group& b) { return position(a) < position(b); });
}

std::vector<int> shared_iterators(const Group& group, const BlockView& view) {
    const Node& root = *group.nodes.back();
    std::vector<int> result;
    for (int x = 0; x < static_cast<int>(root.definition()->iterators.size()); ++x) {
        if (root.definition()->iterators[static_cast<size_t>(x)].is_reduction) continue;
        // Follow the iterator backwards: every access of a result made in the group must have it as one plain
        // component, on an axis that the producer writes at one parallel iterator of its own.
        std::map<const Node*, int> iterator_of = {{&root, x}};
        bool is_shared = true;
        for (auto reader = group.nodes.rbegin(); reader != group.nodes.rend() && is_shared; ++reader) {
            const Definition& d = *(*reader)->definition();
            if (!iterator_of.contains(*reader)) continue;
            for (int t = 0; t < static_cast<int>(d.tensors.size()) && is_shared; ++t) {
                if (d.tensors[static_cast<size_t>(t)].role != Role::kIn) continue;
                const ValueId value = lowering::value_of(**reader, t);
                const Node* producer = view.producer(value);
                if (!producer || !contains(group.nodes, producer)) continue;
                const auto& results = producer->results;
                const auto made = std::find(results.begin(), results.end(), value);
                if (made == results.end()) {  // through a view
                    is_shared = false;
                    break;
                }
                const int out =
                    producer->definition()->results()[static_cast<size_t>(made - results.begin())];
                const auto& map = producer->definition()->tensors[static_cast<size_t>(out)].map;
                for (const auto& access : accesses(d, t)) {
                    int found = -1;
                    for (size_t axis = 0; axis < access.size(); ++axis) {
                        const auto* i = std::get_if<IteratorRef>(&access[axis]->node);
                        const auto* own = std::get_if<IteratorRef>(&map[axis]->node);
                        if (i && own && i->index == iterator_of.at(*reader)) found = own->index;
                    }
                    const auto [at, is_new] = iterator_of.emplace(producer, found);
                    is_shared = is_shared && found >= 0 && (is_new || at->second == found);
                }
            }
        }
        if (is_shared) result.push_back(x);
    }
    return result;
}

std::vector<Group> taken_apart(const std::vector<Group>& groups, ptrdiff_t which, const Block& block) {
    std::vector<Group> result;
    for (const Group& group : groups) {
        if (&group - groups.data() != which) {
            result.push_back(group);
            continue;
        }
        for (const Node* node : group.nodes) result.push_back({{node}, nullptr, nullptr});
    }
    in_order_of_execution(result, block);
    return result;
}

bool reads_axis(const Group& group, int x, size_t axis) {
    const Node& root = *group.nodes.back();
    if (&root == group.softmax) {
        const Definition& d = *root.definition();
        const auto* i =
            std::get_if<IteratorRef>(&d.tensors[static_cast<size_t>(d.results()[2])].map[axis]->node);
        return i && i->index == x;
    }
    const Definition& d = *root.definition();
    for (int t = 0; t < static_cast<int>(d.tensors.size()); ++t) {
        if (d.tensors[static_cast<size_t>(t)].role != Role::kIn ||
            !(lowering::value_of(root, t) == group.softmax->results.back()))
            continue;
        const auto* i = std::get_if<IteratorRef>(&d.tensors[static_cast<size_t>(t)].map[axis]->node);
        return i && i->index == x;
    }
    return false;
}

std::vector<Group> lone_groups(const BlockView& view) {
    std::vector<Group> groups;
    for (const Node& node : view.block().nodes)
        if (!view.is_view(node)) groups.push_back({{&node}, nullptr, nullptr});
    return groups;
}

}  // namespace tessera::planner
