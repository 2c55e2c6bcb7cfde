#include "lowering/kernels/unit_lanes.h"

#include <algorithm>

namespace tessera::kernels {
namespace {

/// The last lanes of B if the unit multiplies the type into f32; 1 if they are not along k.
int64_t k_lanes_of(const machine::ComputeUnit& unit, const KernelTarget& target, ElementType type) {
    if (unit.operands.size() != 3) return 1;
    const machine::OperandLanes &b = unit.operands[1], &c = unit.operands[2];
    if (b.type != name(type) || c.type != name(ElementType::kF32) || b.lanes.size() < 2) return 1;
    const machine::LaneAxis &n = b.lanes[b.lanes.size() - 2], &k = b.lanes.back();
    return n.factor == target.lanes && n.axis != 'k' && k.axis == 'k' ? k.factor : 1;
}

/// Peak of the vector unit for f32, which multiplies every type after widening.
double widened_peak(const KernelTarget& target) {
    for (const machine::ComputeUnit& unit : target.units) {
        if (unit.kind == machine::UnitKind::kVector && unit.operands.front().type == name(ElementType::kF32))
            return machine::peak(unit);
    }
    return 0;
}

}  // namespace

bool multiplies(const machine::ComputeUnit& unit, const KernelTarget& target, ElementType type) {
    const int64_t k = k_lanes_of(unit, target, type);
    return k > 1 && k == k_lanes(target, type) && unit.operands.front().type == name(type);
}

double vector_peak(const KernelTarget& target, ElementType type) {
    double most = widened_peak(target);
    for (const machine::ComputeUnit& unit : target.units)
        if (unit.kind == machine::UnitKind::kVector && multiplies(unit, target, type))
            most = std::max(most, machine::peak(unit));
    return most;
}

int64_t k_lanes(const KernelTarget& target, ElementType type) {
    int64_t most = 1;
    for (const machine::ComputeUnit& unit : target.units)
        most = std::max(most, k_lanes_of(unit, target, type));
    return most;
}

bool adds_products(const KernelTarget& target, ElementType type) {
    return std::any_of(target.units.begin(), target.units.end(), [&](const machine::ComputeUnit& unit) {
        return unit.kind == machine::UnitKind::kVector && multiplies(unit, target, type) &&
               (machine::peak(unit) == 0 || machine::peak(unit) > widened_peak(target));
    });
}

}  // namespace tessera::kernels
