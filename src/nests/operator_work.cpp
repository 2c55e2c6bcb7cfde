#include "nests/operator_work.h"

#include "ir/checked_arithmetic.h"

namespace tessera::nests {

facts::OperationCount work_of(const Operator& op, const OperatorCounts& counts, const std::string& where) {
    facts::OperationCount total;
    const auto charge = [&](int64_t times, facts::OperationCount each) {
        total.flops = checked_add(total.flops, checked_mul(times, each.flops, where), where);
        total.special = checked_add(total.special, checked_mul(times, each.special, where), where);
    };
    if (op.monoid() == Monoid::kSoftmaxSum) {
        charge(counts.held_points, {op.body[0].flops + 3, op.body[0].special + 1});
        charge(counts.points, {op.body[1].flops + 2, op.body[1].special});
        return total;
    }
    charge(counts.points, {op.body[0].flops + (op.monoid() != Monoid::kNone), op.body[0].special});
    charge(counts.elements_ended, op.post);
    return total;
}

}  // namespace tessera::nests
