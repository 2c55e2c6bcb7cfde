#include "ir/facts/work.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"
#include "ir/facts/executed.h"
#include "ir/facts/image.h"
#include "ir/iterator_use.h"

namespace tessera::facts {
namespace {

// True if the value depends on a tensor's elements or on the folded value; anything else can be hoisted for
// free.
bool varies(const ExprPtr& expr) {
    bool found = false;
    walk(expr, [&](const Expr& node) {
        found = found || std::holds_alternative<Read>(node.node) || std::holds_alternative<Folded>(node.node);
        return !found;
    });
    return found;
}

bool is_flop(Function function) {
    return function <= Function::kRound;
}

void count(const ExprPtr& expr, OperationCount& total) {
    if (std::holds_alternative<Read>(expr->node) || !varies(expr)) return;
    if (const auto* call = std::get_if<Apply>(&expr->node)) {
        total.flops += is_flop(call->function);
        total.special += is_special(call->function);
    }
    for (const ExprPtr& child : children(*expr)) count(child, total);
}

/// As if every line was taken at every point.
OperationCount operations_of_lines(const Definition& definition) {
    OperationCount total;
    for (size_t i = 0; i < definition.lines.size(); ++i) {
        count(definition.body[i], total);
        if (definition.lines[i].post) count(definition.lines[i].post, total);
        total.flops += definition.lines[i].fold != Monoid::kNone;
    }
    return total;
}

}  // namespace

OperationCount count_operations(const ExprPtr& expr) {
    OperationCount total;
    if (expr) count(expr, total);
    return total;
}

WorkRates work_rates(const Definition& definition) {
    if (definition.is_recurrence())
        return {.point = operations_of_lines(definition), .held = {}, .element = {}};
    const OperationCount body = count_operations(definition.body[0]);
    if (definition.monoid == Monoid::kSoftmaxSum) {
        const OperationCount value = count_operations(definition.body[1]);
        return {.point = {value.flops + 2, value.special},
                .held = {body.flops + 3, body.special + 1},
                .element = {}};
    }
    return {.point = {body.flops + (definition.monoid != Monoid::kNone), body.special},
            .held = {},
            .element = count_operations(definition.post)};
}

bool holds(const Definition& definition, int iterator) {
    return definition.iterators[static_cast<size_t>(iterator)].is_reduction ||
           uses(definition.tensors[static_cast<size_t>(definition.results()[1])].map, iterator);
}

Work derive_work(const BoundDefinition& bound) {
    const Definition& definition = bound.definition;
    const ExecutedIterations executed(bound, whole_box(bound));
    const WorkRates rates = work_rates(definition);
    Work work{executed.count(), 0, 0};
    const auto charge = [&](int64_t times, OperationCount each) {
        work.flops = checked_add(work.flops, checked_mul(times, each.flops, bound.where), bound.where);
        work.special = checked_add(work.special, checked_mul(times, each.special, bound.where), bound.where);
    };
    charge(work.points, rates.point);
    if (definition.monoid == Monoid::kSoftmaxSum) {
        std::vector<int> unused;
        for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x)
            if (!holds(definition, x)) unused.push_back(x);
        charge(executed.held(unused).count(), rates.held);
    }
    if (rates.element != OperationCount{}) {
        const int result = definition.results()[0];
        ElementSet reached(static_cast<size_t>(bound.rank(result)));
        add_image(reached, bound, bound.tensor(result).map, whole_box(bound), ranges_of(bound.shape(result)));
        charge(reached.count(), rates.element);
    }
    return work;
}

}  // namespace tessera::facts
