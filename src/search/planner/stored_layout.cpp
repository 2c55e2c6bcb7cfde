#include "search/planner/stored_layout.h"

#include "ir/iterator_use.h"
#include "ir/recurrence.h"
#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/contraction.h"
#include "lowering/kernels/recurrence_loops.h"
#include "lowering/kernels/unit_lanes.h"
#include "lowering/storage.h"

namespace tessera::planner {
namespace {

bool is_iterator(const std::vector<ExprPtr>& access, int axis) {
    return std::holds_alternative<IteratorRef>(access[static_cast<size_t>(axis)]->node);
}

/// The state that an updated value is the new contents of; other values are themselves.
ValueId state_behind(const Graph& graph, ValueId value) {
    for (const Block& block : graph.blocks) {
        for (const Node& node : block.nodes) {
            if (node.previous && node.results.front() == value) return state_behind(graph, *node.previous);
        }
    }
    return value;
}

/// The tensor that a streaming softmax weights; -1 if the operator is none.
int weighted_tensor(const Definition& d) {
    if (d.monoid != Monoid::kSoftmaxSum) return -1;
    const auto* value = std::get_if<Read>(&d.body[1]->node);
    return value ? value->tensor : -1;
}

/// True if keys are values, too, as in latent attention: then they lie as values do. A product reads them by
/// lanes along k, but a softmax has lanes along d alone.
bool is_weighted(const Graph& graph, ValueId state) {
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes) {
            const Definition* d = node.definition();
            const int tensor = d ? weighted_tensor(*d) : -1;
            if (tensor >= 0 && state_behind(graph, lowering::value_of(node, tensor)) == state) return true;
        }
    return false;
}

/// A state that is copied through an index: the iterator of its last axis is innermost, and next to it the
/// one that runs through what an index selects, such as the slots of a page.
template <typename Choose>
void choose_pages(const Graph& graph, const Node& node, int operand, const Choose& choose) {
    const Definition& d = *node.definition();
    if (graph[state_behind(graph, lowering::value_of(node, operand))].kind != ValueKind::kState) return;
    const auto all = accesses(d, operand);
    if (all.size() != 1) return;
    const std::vector<ExprPtr>& access = all.front();
    const auto indirect = std::ranges::find_if(access, is_indirect);
    if (indirect == access.end()) return;
    const std::vector<int> last = iterators_in(access.back());
    if (last.size() != 1) return;
    for (const ExprPtr& component : access)
        for (const int s : iterators_in(component))
            if (!is_indirect(component) && s != last[0] && uses(*indirect, s))
                return choose(operand, last[0], s, 1);
}

/// The layout of a carried state: all that a group of lanes passes through at each value of the ordered
/// iterator lies side by side. By rows it would be a part of each, and share few sets of the nearest cache.
Layout layout_of_carried(const Definition& d, const std::vector<ExprPtr>& map, int64_t lanes) {
    const int last = static_cast<int>(map.size()) - 1;
    // Behind the axes of parallel iterators, before those that the lines run through.
    Layout layout{.order = {}, .lanes = {{last, lanes}}};
    std::vector<int> inner;
    for (int axis = 0; axis < last; ++axis) {
        const ExprPtr& component = map[static_cast<size_t>(axis)];
        const bool is_inner =
            !is_indirect(component) && std::ranges::all_of(iterators_in(component), [&](int y) {
                return d.iterators[static_cast<size_t>(y)].is_reduction;
            });
        (is_inner ? inner : layout.order).push_back(axis);
    }
    layout.order.push_back(last);
    layout.order.insert(layout.order.end(), inner.begin(), inner.end());
    return layout;
}

/// Chooses the layouts of the carried state and of the constants, for lanes along the last axis of what it
/// carries.
void choose_of_recurrence(const Graph& graph, const Node& node, const PlannerOptions& options,
                          plan::Plan& plan) {
    const Definition& d = *node.definition();
    const int carried = carried_tensor(d);
    const std::vector<ExprPtr>& map = d.tensors[static_cast<size_t>(carried)].map;
    const auto* x = std::get_if<IteratorRef>(&map.back()->node);
    const auto* extent =
        x ? std::get_if<Number>(&d.iterators[static_cast<size_t>(x->index)].extent->node) : nullptr;
    if (!extent) return;
    const auto choose = [&](const Value& value, Layout layout) {
        if (!layout.is_row_major()) plan.stored.emplace(value.name, std::move(layout));
    };
    const auto all = static_cast<int64_t>(extent->value);
    const int64_t lanes = kernels::loops::lanes_of_recurrence(d, x->index, options.lanes, all);
    const Value& state = graph[state_behind(graph, lowering::value_of(node, carried))];
    if (state.kind == ValueKind::kState && lanes > 1 && lanes < all && all % lanes == 0)
        choose(state, layout_of_carried(d, map, lanes));
    for (int t = 0; t < static_cast<int>(d.tensors.size()); ++t) {
        const Value& value = graph[lowering::value_of(node, t)];
        const auto reads = accesses(d, t);
        if (value.kind != ValueKind::kConstant || reads.empty()) continue;
        Layout layout{.order = {}, .lanes = {}};
        std::vector<int> of_lanes;
        for (int axis = 0; axis < static_cast<int>(reads.front().size()); ++axis)
            (uses(reads.front()[static_cast<size_t>(axis)], x->index) ? of_lanes : layout.order)
                .push_back(axis);
        if (of_lanes.size() != 1 || !is_iterator(reads.front(), of_lanes.front())) continue;
        layout.order.push_back(of_lanes.front());
        choose(value, std::move(layout));
    }
}

}  // namespace

void choose_stored_layout(const Graph& graph, const Node& node, const PlannerOptions& options,
                          plan::Plan& plan) {
    const Definition& d = *node.definition();
    const auto choose = [&](int operand, int n, int k, int64_t neighbours) {
        const Value& value = graph[state_behind(graph, lowering::value_of(node, operand))];
        if (plan.stored.contains(value.name)) return;
        if (value.kind == ValueKind::kState && weighted_tensor(d) != operand &&
            is_weighted(graph, state_behind(graph, lowering::value_of(node, operand))))
            return;
        const auto all = accesses(d, operand);
        if (all.size() != 1) return;
        const std::vector<ExprPtr>& access = all.front();
        std::vector<int> batch, k_axes, n_axes;
        for (int axis = 0; axis < static_cast<int>(access.size()); ++axis) {
            const ExprPtr& component = access[static_cast<size_t>(axis)];
            const bool is_batch = is_indirect(component);
            (!is_batch && uses(component, n)   ? n_axes
             : !is_batch && uses(component, k) ? k_axes
                                               : batch)
                .push_back(axis);
        }
        if (n_axes.size() != 1) return;
        Layout layout;
        if (value.kind == ValueKind::kConstant) {
            if (!is_iterator(access, n_axes[0])) return;
            if (options.lanes > 1) layout.lanes = {{n_axes[0], options.lanes}};
            // A group of lanes has all of k behind it, whatever the order of the axes.
            if (!k_axes.empty() && k_axes.front() < n_axes[0]) {
                layout.order = batch;
                layout.order.push_back(n_axes[0]);
                layout.order.insert(layout.order.end(), k_axes.begin(), k_axes.end());
            }
            if (neighbours > 1 && k_axes.size() == 1 && is_iterator(access, k_axes[0]))
                layout.lanes.push_back({k_axes[0], neighbours});
        } else if (value.kind == ValueKind::kState) {
            // Everything that one index selects, such as a page, lies side by side: the memory is read
            // fastest in long runs.
            std::stable_partition(batch.begin(), batch.end(),
                                  [&](int axis) { return !is_indirect(access[static_cast<size_t>(axis)]); });
            layout.order = batch;
            layout.order.insert(layout.order.end(), k_axes.begin(), k_axes.end());
            layout.order.push_back(n_axes[0]);
        } else {
            return;
        }
        if (!layout.is_row_major()) plan.stored[value.name] = layout;
    };
    if (d.is_recurrence()) return choose_of_recurrence(graph, node, options, plan);
    if (d.monoid == Monoid::kSoftmaxSum) {
        const int value = weighted_tensor(d);
        if (value < 0) return;
        const auto& once = d.tensors[static_cast<size_t>(d.results()[0])].map;
        int s = -1, last = -1;
        for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x) {
            if (d.iterators[static_cast<size_t>(x)].is_reduction) {
                s = x;
            } else if (!uses(once, x)) {
                last = x;
            }
        }
        if (s >= 0 && last >= 0) choose(value, last, s, 1);
        return;
    }
    if (std::ranges::none_of(d.iterators, &Iterator::is_reduction)) {
        for (const Read& read : reads_in(d.body)) choose_pages(graph, node, read.tensor, choose);
        return;
    }
    for (const kernels::BlockContraction& roles : kernels::block_contractions_of(d)) {
        choose(roles.b.tensor, roles.n.front(), roles.k, kernels::kQuad);
        for (const Read& operand : roles.b_reads) choose(operand.tensor, roles.n.front(), roles.k, 1);
    }
    for (const kernels::Contraction& roles : kernels::contractions_of(d)) {
        const Read* alone = roles.b_operand();
        const int64_t neighbours =
            alone ? kernels::k_lanes(options.target(), d.tensors[static_cast<size_t>(alone->tensor)].type)
                  : 1;
        for (const Read& operand : roles.b_reads)
            choose(operand.tensor, roles.n.front(), roles.k.front(), neighbours);
    }
}

std::optional<Layout> layout_of_rows(const Graph& graph, const Node& node,
                                     const kernels::Contraction& roles) {
    const int tensor = roles.a.tensor;
    if (graph[lowering::value_of(node, tensor)].kind != ValueKind::kConstant) return std::nullopt;
    const auto all = accesses(*node.definition(), tensor);
    if (all.size() != 1) return std::nullopt;
    std::vector<int> order, of_k;
    for (int axis = 0; axis < static_cast<int>(all.front().size()); ++axis)
        (uses(all.front()[static_cast<size_t>(axis)], roles.k.front()) ? of_k : order).push_back(axis);
    if (of_k.size() != 1 || of_k.front() + 1 == static_cast<int>(all.front().size())) return std::nullopt;
    order.push_back(of_k.front());
    return Layout{.order = std::move(order), .lanes = {}};
}

}  // namespace tessera::planner
