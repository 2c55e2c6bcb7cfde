#include "nest/nests/operator_work.h"

#include "ir/checked_arithmetic.h"

namespace tessera::nests {

facts::OperationCount work_of(const Operator& op, const OperatorCounts& counts, const std::string& where) {
    facts::OperationCount total;
    const auto charge = [&](int64_t times, facts::OperationCount each) {
        total.flops = checked_add(total.flops, checked_mul(times, each.flops, where), where);
        total.special = checked_add(total.special, checked_mul(times, each.special, where), where);
    };
    charge(counts.points, op.work.point);
    charge(counts.held_points, op.work.held);
    charge(counts.elements_ended, op.work.element);
    return total;
}

}  // namespace tessera::nests
