#include "cost/typical_blocks.h"

#include <algorithm>
#include <cmath>

#include "cost/row_blocks.h"
#include "cost/typical_rates.h"
#include "lowering/kernels/parameters.h"

namespace tessera::cost {
namespace {

namespace parameter = kernels::parameter;

// In instructions that multiply and add, two of which a core begins in a cycle.
constexpr double kLatency = 8;    ///< of a sum that goes on from another one
constexpr double kStore = 2;      ///< of a register
constexpr double kFoldLanes = 8;  ///< of a register into one number
constexpr double kEnd = 40;  ///< of a block: its last sums, the addresses and first loads of the next one

/// The instructions of a step that needs so many of three resources: those that are nearly as busy as the
/// busiest one stand in its way. The exponent fits products of F32 on a Zen 5, from 1 to 12 rows by 1 to 4
/// groups, to 5 % in the mean.
double together(double multiply_adds, double loads, double waits) {
    constexpr double kExponent = 6;
    const double most = std::max({multiply_adds, loads, waits});
    double sum = 0;
    for (const double each : {multiply_adds, loads, waits}) sum += std::pow(each / most, kExponent);
    return most * std::pow(sum, 1 / kExponent);
}

int64_t whole_blocks(int64_t extent, int64_t block) {
    return (extent + block - 1) / block;
}

/// Instructions of all blocks in whose time they are computed, if the whole ones multiply without a pause.
double instructions_of_blocks(const UnitRate& unit, const plan::Leaf& leaf, int64_t m, int64_t n, int64_t k) {
    const bool has_lanes_along_k = leaf.kernel->has(parameter::kColumnsInRegisters);
    const int64_t lanes = std::max<int64_t>(1, leaf.number(parameter::kLanes));
    const int64_t groups = has_lanes_along_k ? n : whole_blocks(n, lanes);
    const double of_step = has_lanes_along_k ? static_cast<double>(lanes) : unit.depth;
    const double steps = unit.products * std::ceil(static_cast<double>(k) / of_step);
    const auto sums = static_cast<double>(std::max<int64_t>(1, leaf.number(parameter::kPartialSums)));
    const RowBlocks along_m{.rows = std::max<int64_t>(1, leaf.number(parameter::kRows))};
    const RowBlocks along_n{
        .rows = std::max<int64_t>(
            1, leaf.number(has_lanes_along_k ? parameter::kColumnsInRegisters : parameter::kGroups))};
    const auto step_of = [&](double r, double c) { return together(r * c, r + c, kLatency / sums); };
    const auto whole_rows = static_cast<double>(along_m.rows),
               whole_columns = static_cast<double>(along_n.rows);
    const double pauses = step_of(whole_rows, whole_columns) / (whole_rows * whole_columns);
    double all = 0;
    for (const auto& [rows, row_blocks] : along_m.cut(m))
        for (const auto& [columns, column_blocks] : along_n.cut(groups)) {
            const auto r = static_cast<double>(rows), c = static_cast<double>(columns);
            const double step = step_of(r, c) / pauses;
            const double end = kEnd + r * c * (has_lanes_along_k ? kFoldLanes : kStore);
            all += static_cast<double>(row_blocks * column_blocks) * (steps * step + end);
        }
    return all * std::max(1.0, static_cast<double>(lanes) / unit.lanes);
}

}  // namespace

std::optional<UnitRate> unit_of(const machine::Machine& machine, const plan::Leaf& leaf,
                                const plan::KernelTypes& types) {
    const plan::MicroKernel& kernel = *leaf.kernel;
    const plan::UnitFactors factors =
        kernel.factors ? kernel.factors(leaf, types) : plan::UnitFactors{"f32", "f32"};
    const machine::ComputeUnit* best = nullptr;
    for (const machine::ComputeUnit& unit : machine.units) {
        if (unit.kind != kernel.unit || unit.operands.size() != 3 || unit.operands[0].type != factors.a ||
            unit.operands[1].type != factors.b || machine::peak(unit) <= 0)
            continue;
        if (!best || machine::peak(unit) > machine::peak(*best)) best = &unit;
    }
    if (!best) return std::nullopt;
    UnitRate rate{.products = factors.products};
    for (const machine::LaneAxis& lane : best->operands.back().lanes)
        rate.lanes *= static_cast<double>(lane.factor);
    rate.depth = operations_of_instruction(*best) / (2 * rate.lanes);
    rate.seconds = operations_of_instruction(*best) / machine::peak(*best);
    return rate;
}

double typical_product_seconds(const UnitRate& unit, const plan::Leaf& leaf, int64_t m, int64_t n,
                               int64_t k) {
    if (leaf.kernel->unit != machine::UnitKind::kMatrix)
        return unit.seconds * instructions_of_blocks(unit, leaf, m, n, k);
    const int64_t height = std::max<int64_t>(1, leaf.number(parameter::kRowsOfTile));
    const double products =
        unit.products * static_cast<double>(whole_blocks(m, height) * height * n) * static_cast<double>(k);
    return unit.seconds * products / (unit.lanes * unit.depth);
}

}  // namespace tessera::cost
