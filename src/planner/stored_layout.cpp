#include "planner/stored_layout.h"

#include <algorithm>

#include "kernels/contraction.h"
#include "movement/storage.h"

namespace tessera {
namespace {

bool uses(const ExprPtr& component, int x) {
    const std::vector<int> found = iterators_in(component);
    return std::find(found.begin(), found.end(), x) != found.end();
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

}  // namespace

void choose_stored_layout(const Graph& graph, const Node& node, const PlannerOptions& options, Plan& plan) {
    const Definition& d = *node.definition();
    const auto choose = [&](int operand, int n, int k) {
        const Value& value = graph[state_behind(graph, value_of(node, operand))];
        if (plan.stored.contains(value.name)) return;
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
            const auto* plain = std::get_if<IteratorRef>(&access[static_cast<size_t>(n_axes[0])]->node);
            if (!plain) return;
            if (options.lanes > 1) layout.lanes = {{n_axes[0], options.lanes}};
        } else if (value.kind == ValueKind::kState) {
            layout.order = batch;
            layout.order.insert(layout.order.end(), k_axes.begin(), k_axes.end());
            layout.order.push_back(n_axes[0]);
        } else {
            return;
        }
        if (!layout.is_row_major()) plan.stored[value.name] = layout;
    };
    if (d.monoid == Monoid::kSoftmaxSum) {
        const auto* value = std::get_if<Read>(&d.body[1]->node);
        if (!value) return;
        const auto& once = d.tensors[static_cast<size_t>(d.results()[0])].map;
        int s = -1, last = -1;
        for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x) {
            if (d.iterators[static_cast<size_t>(x)].is_reduction) {
                s = x;
            } else if (std::none_of(once.begin(), once.end(), [&](const ExprPtr& c) { return uses(c, x); })) {
                last = x;
            }
        }
        if (s >= 0 && last >= 0) choose(value->tensor, last, s);
        return;
    }
    for (const Contraction& roles : contractions_of(d)) {
        for (const Read& operand : roles.b_reads) choose(operand.tensor, roles.n.front(), roles.k.front());
    }
}

}  // namespace tessera
