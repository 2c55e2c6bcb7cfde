#include "search/planner/places.h"

#include <algorithm>

#include "lowering/views.h"
#include "search/planner/aliases.h"

namespace tessera::planner {

struct Places::Choosing {
    const BlockView& view;
    const std::map<const Node*, size_t>& kernel_of;
    const std::map<ValueId, std::vector<const Node*>>& readers;  ///< of the value itself, views apart
    const Aliases& aliases;
};

void Places::choose(const BlockView& view, const std::vector<Group>& groups) {
    const Block& block = view.block();
    std::map<const Node*, size_t> kernel_of;
    for (size_t g = 0; g < groups.size(); ++g) {
        for (const Node* node : groups[g].nodes) kernel_of[node] = g;
    }
    std::map<ValueId, std::vector<const Node*>> readers;
    for (const Node& node : block.nodes)
        for (const ValueId operand : node.operands) readers[operand].push_back(&node);
    const auto is_output = [&](ValueId v) {
        return std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end();
    };
    // Views are resolved first: sharing must be known before storage is taken over.
    for (const Node& node : block.nodes) {
        for (const ValueId result : node.results) {
            if (is_output(result)) continue;
            plan::TensorPlan& tensor = out_.tensors[graph_[result].name];
            tensor = {};
            if (node.previous && result == node.results.front()) {
                tensor = {plan::Place::kInPlace, graph_[*node.previous].name, {}, 0, {}};
            } else if (lowering::is_view(*node.definition()) && !copied_views_.contains(&node)) {
                tensor = {plan::Place::kView, graph_[node.operands.front()].name, {}, 0, {}};
            } else if (const Group& group = groups[kernel_of.at(&node)];
                       &node != group.nodes.back() && view.is_private(node, group.nodes)) {
                tensor = {plan::Place::kTile, {}, {}, 0, layout_of(result)};
            } else {
                tensor.layout = layout_of(result);
            }
        }
    }
    Aliases aliases(input_);
    const Choosing known{view, kernel_of, readers, aliases};
    for (const Node& node : block.nodes) {
        for (const ValueId result : node.results) {
            if (is_output(result)) continue;
            plan::TensorPlan& tensor = out_.tensors[graph_[result].name];
            if (tensor.place != plan::Place::kArena || !tensor.layout.is_row_major()) continue;
            if (is_overwritten_beside(known, node, result)) continue;
            if (const auto operand = replaced_operand(known, node)) {
                tensor = {plan::Place::kInPlace, graph_[*operand].name, {}, 0, {}};
                aliases.take_over(result, *operand);
            }
        }
    }
}

/// An operand of the arena whose storage the result may take over: no later kernel, and no other operator
/// of this one, touches it. The carried value comes first, since it must stay in its place.
std::optional<ValueId> Places::replaced_operand(const Choosing& known, const Node& node) const {
    const Block& block = known.view.block();
    const auto base_of = [&](ValueId value) { return known.aliases.base(value); };
    const Definition& d = *node.definition();
    std::optional<ValueId> best;
    for (int t = 0; t < static_cast<int>(d.tensors.size()); ++t) {
        if (d.tensors[static_cast<size_t>(t)].role != Role::kIn || !lowering::may_be_in_place(d, t)) continue;
        const ValueId operand = lowering::value_of(node, t);
        const ValueId base = base_of(operand);
        if (shows_elements_twice(operand)) continue;
        if (!lowering::may_replace(node, operand, base_of)) continue;
        const auto place = out_.tensors.find(graph_[base].name);
        if (graph_[base].kind != ValueKind::kIntermediate || place == out_.tensors.end() ||
            place->second.place != plan::Place::kArena || !layout_of(base).is_row_major())
            continue;
        if (!(graph_[operand].type.shape == graph_[node.results.front()].type.shape)) continue;
        const bool is_carried = block.carried_in && base == base_of(*block.carried_in);
        if (!is_carried && known.view.producer(operand) == nullptr) continue;  // belongs to another block
        if (is_used_later(known, node, base)) continue;
        if (is_carried) return operand;
        if (!best) best = operand;
    }
    return best;
}

std::set<const Node*> Places::copies(const Block& block) const {
    std::set<const Node*> copies;
    for (const Node& node : block.nodes) {
        if (!lowering::is_view(*node.definition())) continue;
        const ValueId result = node.results.front();
        const auto decided = decided_.find(graph_[result].name);
        const bool is_output = std::ranges::find(graph_.outputs, result) != graph_.outputs.end();
        if (is_output || (decided != decided_.end() && decided->second.place == plan::Place::kArena) ||
            is_overwritten(block, node))
            copies.insert(&node);
    }
    return copies;
}

/// True if the node's result, as a view of its operand, would be read behind an operator that overwrites the
/// operand.
bool Places::is_overwritten(const Block& block, const Node& view) const {
    const ValueId result = view.results.front();
    for (const Block& other : graph_.blocks) {
        if (other.repeat > 1 && other.carried_in == result) return true;
        for (const Node& node : other.nodes)
            if (node.previous == result) return true;
    }
    if (std::ranges::none_of(block.nodes, [](const Node& node) { return node.previous.has_value(); }))
        return false;
    std::map<ValueId, ValueId> source;  // whose storage a value has, if all views are views
    for (const Node& node : block.nodes) {
        if (node.previous) source[node.results.front()] = *node.previous;
        if (lowering::is_view(*node.definition())) source[node.results.front()] = node.operands.front();
    }
    const auto storage = [&](ValueId value) {
        for (auto at = source.find(value); at != source.end(); at = source.find(value)) value = at->second;
        return value;
    };
    std::set<ValueId> seen = {result};
    bool is_behind = false, is_replaced = false;
    for (const Node& node : block.nodes) {
        is_replaced |= is_behind && node.previous && storage(*node.previous) == storage(result);
        if (is_replaced && std::ranges::any_of(node.operands, [&](ValueId o) { return seen.contains(o); }))
            return true;
        if (is_behind && lowering::is_view(*node.definition()) && seen.contains(node.operands.front()))
            seen.insert(node.results.front());
        is_behind |= &node == &view;
    }
    if (!is_replaced) return false;
    const BlockView all(graph_, block);
    return std::ranges::any_of(seen, [&](ValueId value) { return all.escapes(value); });
}

const Layout& Places::layout_of(ValueId value) const {
    static const Layout kRowMajor;
    const auto decided = decided_.find(graph_[value].name);
    return decided == decided_.end() ? kRowMajor : decided->second.layout;
}

bool Places::shows_elements_twice(ValueId value) const {
    for (ValueId at = value; out_.tensors.contains(graph_[at].name);) {
        const plan::TensorPlan& tensor = out_.tensors.at(graph_[at].name);
        if (tensor.place != plan::Place::kView && tensor.place != plan::Place::kInPlace) break;
        const Node* node = input_.producers[static_cast<size_t>(at.index)];
        if (tensor.place == plan::Place::kView && !lowering::is_one_to_one(*node->definition())) return true;
        at = input_.values.at(tensor.of);
    }
    return false;
}

bool Places::is_used_later(const Choosing& known, const Node& node, ValueId base) {
    const size_t kernel = known.kernel_of.at(&node);
    return std::ranges::any_of(known.aliases.sharing(base), [&](ValueId value) {
        const auto readers = known.readers.find(value);
        const auto is_late = [&](const Node* reader) {
            const auto of_reader = known.kernel_of.find(reader);
            return reader != &node && of_reader != known.kernel_of.end() && of_reader->second >= kernel;
        };
        return (readers != known.readers.end() && std::ranges::any_of(readers->second, is_late)) ||
               known.view.is_seen_behind(value);
    });
}

bool Places::is_overwritten_beside(const Choosing& known, const Node& node, ValueId result) const {
    return std::ranges::any_of(known.aliases.sharing(result), [&](ValueId value) {
        const auto plan = out_.tensors.find(graph_[value].name);
        const Node* update = known.view.producer(value);
        return value != result && update && plan != out_.tensors.end() &&
               plan->second.place == plan::Place::kInPlace &&
               known.kernel_of.at(update) == known.kernel_of.at(&node);
    });
}

std::optional<ptrdiff_t> Places::group_in_the_way(const BlockView& view,
                                                  const std::vector<Group>& groups) const {
    const Block& block = view.block();
    if (block.repeat == 1 || !block.carried_in || !block.carried_out) return std::nullopt;
    const lowering::Storage storage(input_, block);
    if (lowering::lie_alike(storage, *block.carried_in, *block.carried_out)) return std::nullopt;
    std::set<const Node*> visited;
    return group_in_the_way(view, groups, view.producer(*block.carried_out), visited);
}

/// Back along the operands that a map might replace, up to a group in which it may not.
std::optional<ptrdiff_t> Places::group_in_the_way(const BlockView& view, const std::vector<Group>& groups,
                                                  const Node* node, std::set<const Node*>& visited) const {
    if (!node || !visited.insert(node).second) return std::nullopt;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
        return std::find(g.nodes.begin(), g.nodes.end(), node) != g.nodes.end();
    });
    if (group != groups.end() && group->nodes.size() > 1) return group - groups.begin();
    const Definition& d = *node->definition();
    for (int t = 0; t < static_cast<int>(d.tensors.size()); ++t) {
        if (d.tensors[static_cast<size_t>(t)].role != Role::kIn || !lowering::may_be_in_place(d, t)) continue;
        if (const auto found =
                group_in_the_way(view, groups, view.producer(lowering::value_of(*node, t)), visited))
            return found;
    }
    return std::nullopt;
}

BlockView Places::choose_alone(const Block& block) {
    for (const Node* copied : copies(block)) copied_views_.insert(copied);
    while (true) {
        BlockView view(graph_, block, copied_views_);
        choose(view, lone_groups(view));
        const Node* copied = view_in_the_way(view);
        if (!copied) return view;
        copied_views_.insert(copied);
    }
}

bool carries_in_place(const Graph& graph, const Block& block) {
    const plan::Plan plan;
    const plan::ConstantSection constants;
    plan::SpecialisationPlan whole;
    for (const DimSymbol& symbol : graph.symbols) whole.bounds[symbol.name] = {symbol.low, symbol.high};
    whole.tensors[graph[*block.carried_in].name] = {};  // another block makes it, in the arena
    const lowering::LoweringInput input = lowering::lowering_input(graph, plan, whole, constants);
    (void)Places(input, whole).choose_alone(block);
    return lowering::lie_alike({input, block}, *block.carried_in, *block.carried_out);
}

const Node* Places::view_in_the_way(const BlockView& view) const {
    const Block& block = view.block();
    if (block.repeat == 1 || !block.carried_in || !block.carried_out) return nullptr;
    const lowering::Storage storage(input_, block);
    if (lowering::lie_alike(storage, *block.carried_in, *block.carried_out)) return nullptr;
    const ValueId carried = storage.base(*block.carried_in);
    const Node* replacement = storage.producer(*block.carried_out);
    if (storage.plan_of(*block.carried_out).place == plan::Place::kView) return replacement;
    for (const ValueId operand : replacement->operands) {
        const bool is_a_view = storage.plan_of(operand).place == plan::Place::kView;
        if (is_a_view && storage.base(operand) == carried) return storage.producer(operand);
    }
    return nullptr;
}

}  // namespace tessera::planner
