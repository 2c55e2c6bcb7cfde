#include "search/planner/stored_layout.h"

#include "ir/iterator_use.h"
#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/contraction.h"
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

}  // namespace

void choose_stored_layout(const Graph& graph, const Node& node, const PlannerOptions& options,
                          plan::Plan& plan) {
    const Definition& d = *node.definition();
    const auto choose = [&](int operand, int n, int k, int64_t neighbours) {
        const Value& value = graph[state_behind(graph, lowering::value_of(node, operand))];
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
            if (!is_iterator(access, n_axes[0])) return;
            if (options.lanes > 1) layout.lanes = {{n_axes[0], options.lanes}};
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
    if (d.monoid == Monoid::kSoftmaxSum) {
        const auto* value = std::get_if<Read>(&d.body[1]->node);
        if (!value) return;
        const auto& once = d.tensors[static_cast<size_t>(d.results()[0])].map;
        int s = -1, last = -1;
        for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x) {
            if (d.iterators[static_cast<size_t>(x)].is_reduction) {
                s = x;
            } else if (!uses(once, x)) {
                last = x;
            }
        }
        if (s >= 0 && last >= 0) choose(value->tensor, last, s, 1);
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

}  // namespace tessera::planner
