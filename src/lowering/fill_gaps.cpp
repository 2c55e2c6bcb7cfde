#include "lowering/fill_gaps.h"

#include <algorithm>
#include <map>

#include "ir/ops/exchange.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::lowering {
namespace {

/// The elements of one part, an axis a loop:
///
///     for x0 in 0 .. X0: for part in worker g .. X1 by workers g: for x1 in part .. part + g: ...
movement::Body fill_part(ValueId value, const movement::WorkerPart& part, double identity, Storage& storage,
                         Names& names) {
    const std::vector<movement::Index> extents = storage.extents(value);
    const LoweringInput& input = storage.input();
    std::vector<movement::Variable> variables;
    std::vector<movement::Index> at;
    for (const movement::Index& extent : extents) {
        variables.push_back({names.fresh("gap"), {0, std::max<int64_t>(extent.bounds().high - 1, 0)}});
        at.push_back(movement::Index::variable(variables.back()));
    }
    movement::Body body = {
        {movement::Store{storage.locate(value, at, true), 0, movement::number_value(identity)}}};
    for (size_t axis = extents.size(); axis-- > 0;) {
        const movement::Variable& variable = variables[axis];
        if (static_cast<int>(axis) != part.axis) {
            body = {{movement::For{variable, movement::Index(0), extents[axis], 1, std::move(body)}}};
            continue;
        }
        const movement::Variable first{names.fresh("part"), {0, variable.bounds.high}, part.group};
        const movement::Index begin = movement::Index::variable(first);
        body = {
            {movement::For{variable, begin, movement::min(begin + movement::Index(part.group), extents[axis]),
                           1, std::move(body)}}};
        const auto step = checked_mul(part.group, input.plan.workers);
        if (!step) throw movement::IndexOverflow();
        body = {{movement::For{first, input.worker() * movement::Index(part.group), extents[axis], *step,
                               std::move(body)}}};
    }
    return body;
}

/// @pre the value has storage of its own
movement::Body fill_whole(ValueId value, double identity, Storage& storage) {
    const std::vector<movement::Index> extents = storage.extents(value);
    const movement::Address start = storage.locate(value, std::vector<movement::Index>(extents.size()), true);
    return {{movement::Fill{start, stored_elements(storage.plan_of(value).layout, extents), identity}}};
}

}  // namespace

movement::Body fill_gaps(const std::vector<const Node*>& nodes,
                         const std::vector<movement::WorkerAccess>& accesses, Storage& storage,
                         Names& names) {
    movement::Body body;
    for (const Node* node : nodes) {
        if (ops::is_exchange(*node->definition())) continue;  // the others' parts come from them
        for (const int t : node->definition()->results()) {
            const ValueId value = value_of(*node, t);
            const plan::TensorPlan& plan = storage.plan_of(value);
            if (node->definition()->tensors[static_cast<size_t>(t)].role != Role::kOut ||
                !leaves_gaps(*node, storage))
                continue;
            if (plan.place == plan::Place::kTile) continue;  // readers are checked where the tile is made
            const auto access =
                std::find_if(accesses.begin(), accesses.end(), [&](const movement::WorkerAccess& a) {
                    return a.is_write && a.node == node->name && a.value == storage.input().graph[value].name;
                });
            const bool is_divided =
                storage.input().plan.workers > 1 && access != accesses.end() && !access->parts.empty();
            const bool is_one_workers = is_divided && access->parts.front().axis == movement::kFirstWorker;
            const double start = identity(*node->definition(), t);
            movement::Body fill = is_divided && !is_one_workers
                                      ? fill_part(value, access->parts.front(), start, storage, names)
                                      : fill_whole(value, start, storage);
            if (is_one_workers) {
                const movement::Variable first{names.fresh("part"), {0, 0}};
                fill = {
                    {movement::For{first, storage.input().worker(), movement::Index(1), 1, std::move(fill)}}};
            }
            for (movement::Statement& s : fill) body.push_back(std::move(s));
        }
    }
    return body;
}

}  // namespace tessera::lowering
