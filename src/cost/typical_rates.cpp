#include "cost/typical_rates.h"

#include <algorithm>
#include <set>

#include "support/error.h"

namespace tessera::cost {
namespace {

constexpr double kCyclesPerSecond = 3e9;

// Two ports multiply and add: Intel since Haswell, AMD since Zen 2, Arm since Neoverse V1.
constexpr double kVectorsPerCycle = 2;

// Bytes that one core reads in a cycle, sustained. Caches: Intel 64 and IA-32 Architectures Optimization
// Reference Manual, Skylake, "Cache Parameters". Memory: 12 GB/s, by the lines that a core can wait for at
// once.
constexpr double kBytesPerCycleOfCaches[] = {64, 29, 18};
constexpr double kBytesPerCycleOfMemory = 4;
// With so many cores the main memory gives all it has.
constexpr int64_t kCoresOfMemory = 4;

constexpr double kBarrierSeconds = 3e-6;

std::vector<machine::ReadBandwidth> bandwidth(size_t level, const machine::Machine& machine) {
    const bool is_memory = level + 1 == machine.memory.size();
    const double of_one =
        kCyclesPerSecond *
        (is_memory ? kBytesPerCycleOfMemory
                   : kBytesPerCycleOfCaches[std::min(level, std::size(kBytesPerCycleOfCaches) - 1)]);
    std::vector<machine::ReadBandwidth> rates;
    for (int64_t threads = 1; threads <= machine.cores; ++threads) {
        const int64_t served = is_memory ? std::min(threads, kCoresOfMemory) : threads;
        rates.push_back({threads, static_cast<double>(served) * of_one, 0});
    }
    return rates;
}

/// A matrix unit takes one row of its result in a cycle (Intel AMX: 16 cycles for 16 rows).
double instructions_per_cycle(const machine::ComputeUnit& unit) {
    if (unit.kind != machine::UnitKind::kMatrix || unit.operands.back().lanes.empty())
        return kVectorsPerCycle;
    return 1 / static_cast<double>(unit.operands.back().lanes.front().factor);
}

}  // namespace

double operations_of_instruction(const machine::ComputeUnit& unit) {
    double products = 1;
    std::set<char> axes;
    for (const machine::LaneAxis& lane : unit.operands.back().lanes) {
        products *= static_cast<double>(lane.factor);
        axes.insert(lane.axis);
    }
    for (const machine::LaneAxis& lane : unit.operands[1].lanes)
        if (!axes.contains(lane.axis)) products *= static_cast<double>(lane.factor);
    return 2 * products;
}

double typical_operations(const VectorWork& work) {
    const auto each = counts(work), operations = counts(kTypicalOperations);
    double sum = 0;
    for (size_t i = 0; i < each.size(); ++i) sum += each[i] * operations[i];
    return sum;
}

machine::Machine with_typical_rates(machine::Machine machine) {
    for (size_t level = 0; level < machine.memory.size(); ++level)
        if (machine.memory[level].read_bandwidth.empty())
            machine.memory[level].read_bandwidth = bandwidth(level, machine);
    for (machine::ComputeUnit& unit : machine.units)
        if (machine::peak(unit) <= 0 && unit.operands.size() == 3)
            unit.peaks = {{"registers", kCyclesPerSecond * instructions_per_cycle(unit) *
                                            operations_of_instruction(unit)}};
    if (machine.barriers.empty()) machine.barriers = {{2, kBarrierSeconds}};
    return machine;
}

double seconds_of_an_operation(const machine::Machine& machine) {
    const machine::ComputeUnit* vector = machine::find_unit(machine, machine::UnitKind::kVector, "f32");
    TESSERA_CHECK(vector && machine::peak(*vector) > 0);
    // A multiply-add is two operations.
    return 2 * static_cast<double>(machine::vector_lanes(machine)) / machine::peak(*vector);
}

}  // namespace tessera::cost
