#include "lowering/fill_gaps.h"

#include <algorithm>
#include <map>

#include "support/checked.h"
#include "support/error.h"

namespace tessera {
namespace {

/// The elements of one part, an axis a loop:
///
///     for x0 in 0 .. X0: for part in worker g .. X1 by workers g: for x1 in part .. part + g: ...
Body fill_part(ValueId value, const WorkerPart& part, double identity, Storage& storage, Names& names) {
    const std::vector<Index> extents = storage.extents(value);
    const LoweringInput& input = storage.input();
    std::vector<Variable> variables;
    std::vector<Index> at;
    for (const Index& extent : extents) {
        variables.push_back({names.fresh("gap"), {0, std::max<int64_t>(extent.bounds().high - 1, 0)}});
        at.push_back(Index::variable(variables.back()));
    }
    Body body = {{Store{storage.locate(value, at, true), 0, number_value(identity)}}};
    for (size_t axis = extents.size(); axis-- > 0;) {
        const Variable& variable = variables[axis];
        if (static_cast<int>(axis) != part.axis) {
            body = {{For{variable, Index(0), extents[axis], 1, std::move(body)}}};
            continue;
        }
        const Variable first{names.fresh("part"), {0, variable.bounds.high}, part.group};
        const Index begin = Index::variable(first);
        body = {{For{variable, begin, min(begin + Index(part.group), extents[axis]), 1, std::move(body)}}};
        const auto step = checked_mul(part.group, input.plan.workers);
        if (!step) throw IndexOverflow();
        body = {{For{first, input.worker() * Index(part.group), extents[axis], *step, std::move(body)}}};
    }
    return body;
}

/// @pre the value has storage of its own
Body fill_whole(ValueId value, double identity, Storage& storage) {
    const std::vector<Index> extents = storage.extents(value);
    const Address start = storage.locate(value, std::vector<Index>(extents.size()), true);
    return {{Fill{start, stored_elements(storage.plan_of(value).layout, extents), identity}}};
}

}  // namespace

Body fill_gaps(const std::vector<const Node*>& nodes, const std::vector<WorkerAccess>& accesses,
               Storage& storage, Names& names) {
    Body body;
    for (const Node* node : nodes) {
        for (const int t : node->definition()->results()) {
            const ValueId value = value_of(*node, t);
            const TensorPlan& plan = storage.plan_of(value);
            if (node->definition()->tensors[static_cast<size_t>(t)].role != Role::kOut ||
                !leaves_gaps(*node, storage))
                continue;
            if (plan.place == Place::kTile) continue;  // readers are checked where the tile is made
            const auto access = std::find_if(accesses.begin(), accesses.end(), [&](const WorkerAccess& a) {
                return a.is_write && a.node == node->name && a.value == storage.input().graph[value].name;
            });
            const bool is_divided =
                storage.input().plan.workers > 1 && access != accesses.end() && !access->parts.empty();
            const bool is_one_workers = is_divided && access->parts.front().axis == kFirstWorker;
            const double start = identity(node->definition()->monoid);
            Body fill = is_divided && !is_one_workers
                            ? fill_part(value, access->parts.front(), start, storage, names)
                            : fill_whole(value, start, storage);
            if (is_one_workers) {
                const Variable first{names.fresh("part"), {0, 0}};
                fill = {{For{first, storage.input().worker(), Index(1), 1, std::move(fill)}}};
            }
            for (Statement& s : fill) body.push_back(std::move(s));
        }
    }
    return body;
}

}  // namespace tessera
