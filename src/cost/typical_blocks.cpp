#include "cost/typical_blocks.h"

#include <algorithm>
#include <cmath>

#include "cost/row_blocks.h"
#include "cost/typical_rates.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/register_blocks.h"
#include "tessera/ntt/extent.h"

namespace tessera::cost {
namespace {

namespace parameter = kernels::parameter;

// In instructions that multiply and add, two of which a core begins in a cycle.
constexpr double kLatency = 8;    ///< of a sum that goes on from another one
constexpr double kStore = 2;      ///< of a register
constexpr double kRun = 8;        ///< of a further loop over k
constexpr double kPanel = 8;      ///< of a register of B that goes to a panel, often in the second cache
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

/// The register blocks of a leaf on a vector unit. Times are in instructions.
class VectorBlocks {
public:
    VectorBlocks(const UnitRate& unit, const plan::Leaf& leaf)
        : has_lanes_along_k_(leaf.kernel->has(parameter::kColumnsInRegisters)),
          lanes_(std::max<int64_t>(1, leaf.number(parameter::kLanes))),
          of_step_(has_lanes_along_k_ ? static_cast<double>(lanes_) : unit.depth),
          of_product_(unit.products * std::max(1.0, static_cast<double>(lanes_) / unit.lanes)),
          decoding_(unit.decoding),
          panel_blocks_(leaf.number(parameter::kPanelBlocks)),
          fetches_(fetches_of_a_line(leaf.number(parameter::kPrefetch))),
          sums_(static_cast<double>(std::max<int64_t>(1, leaf.number(parameter::kPartialSums)))),
          along_m_{.rows = std::max<int64_t>(1, leaf.number(parameter::kRows))},
          along_n_{
              .rows = std::max<int64_t>(
                  1, leaf.number(has_lanes_along_k_ ? parameter::kColumnsInRegisters : parameter::kGroups))},
          pauses_(pauses(leaf)) {}

    /// All blocks, if the whole ones multiply without a pause.
    TypicalProduct all(int64_t m, int64_t n, int64_t k, int64_t runs) const {
        const int64_t groups = has_lanes_along_k_ ? n : ntt::ceil_div(n, lanes_);
        const auto loops = static_cast<double>(runs);
        const double steps = loops * std::ceil(static_cast<double>(k) / loops / of_step_);
        const auto blocks_of_rows = along_m_.cut(m);
        int64_t blocks = 0;
        for (const auto& [rows, row_blocks] : blocks_of_rows) blocks += row_blocks;
        const double decoding = decoding_of(blocks);
        TypicalProduct time;
        for (const auto& [rows, row_blocks] : blocks_of_rows) {
            time.first = 0;  // the largest blocks come last here, and first when they run
            for (const auto& [columns, column_blocks] : along_n_.cut(groups))
                time.first += static_cast<double>(column_blocks) *
                              (one(steps, static_cast<double>(rows), static_cast<double>(columns), decoding) +
                               (loops - 1) * kRun);
            time.all += static_cast<double>(row_blocks) * time.first;
            time.step =
                of_whole_step(static_cast<double>(rows), static_cast<double>(along_n_.rows), decoding);
        }
        return time;
    }

    /// As if parts of whole blocks covered all.
    double least(int64_t m, int64_t n, int64_t k) const {
        const auto rows = static_cast<double>(along_m_.rows), columns = static_cast<double>(along_n_.rows);
        const double groups = static_cast<double>(n) / (has_lanes_along_k_ ? 1 : static_cast<double>(lanes_));
        const double blocks = static_cast<double>(m) / rows * groups / columns;
        return blocks *
               one(static_cast<double>(k) / of_step_, rows, columns, panel_blocks_ > 0 ? 0 : decoding_);
    }

private:
    static double fetches_of_a_line(int64_t prefetch) {
        if (prefetch == 0) return 0;
        return prefetch < kernels::kPrefetchDistances.back() ? 1 : 2;  // to the second cache first
    }

    /// Instructions for each register of B and block of rows, of which the product has so many.
    double decoding_of(int64_t blocks) const {
        if (panel_blocks_ == 0 || blocks < panel_blocks_) return decoding_;
        return (decoding_ + kPanel) / static_cast<double>(blocks);
    }

    double of_a_step(double r, double c, double fetches = 0, double decoding = 0) const {
        return together(r * c, r + c * (1 + fetches + decoding), kLatency / sums_);
    }

    double of_whole_step(double r, double c, double decoding) const {
        return of_product_ * of_a_step(r, c, fetches_, decoding) / pauses_;
    }

    /// Instructions that a step of a whole block, fetching nothing ahead, seems to take for each
    /// multiply-add.
    double pauses(const plan::Leaf& leaf) const {
        if (!leaf.kernel->product.k) return 1;
        const auto rows = static_cast<double>(along_m_.rows), columns = static_cast<double>(along_n_.rows);
        return of_a_step(rows, columns) / (rows * columns);
    }

    double one(double steps, double r, double c, double decoding) const {
        return steps * of_whole_step(r, c, decoding) + kEnd +
               r * c * (has_lanes_along_k_ ? kFoldLanes : kStore);
    }

    const bool has_lanes_along_k_;
    const int64_t lanes_;
    const double of_step_;     ///< k that an instruction takes
    const double of_product_;  ///< instructions for each that the operator needs
    const double decoding_;    ///< instructions for a register of B
    const int64_t panel_blocks_;
    const double fetches_;  ///< instructions that fetch a line of B ahead
    const double sums_;
    const RowBlocks along_m_, along_n_;
    const double pauses_;
};

double seconds_of_tiles(const UnitRate& unit, double rows, double columns, double k) {
    return unit.seconds * unit.products * rows * columns * k / (unit.lanes * unit.depth);
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

TypicalProduct typical_product(const UnitRate& unit, const plan::Leaf& leaf, int64_t m, int64_t n, int64_t k,
                               int64_t runs) {
    if (leaf.kernel->unit != machine::UnitKind::kMatrix) {
        const TypicalProduct instructions = VectorBlocks(unit, leaf).all(m, n, k, runs);
        return {.all = unit.seconds * instructions.all,
                .first = unit.seconds * instructions.first,
                .step = unit.seconds * instructions.step};
    }
    const int64_t height = std::max<int64_t>(1, leaf.number(parameter::kRowsOfTile));
    return {.all = seconds_of_tiles(unit, static_cast<double>(ntt::ceil_div(m, height) * height),
                                    static_cast<double>(n), static_cast<double>(k))};
}

double least_product_seconds(const UnitRate& unit, const plan::Leaf& leaf, int64_t m, int64_t n, int64_t k) {
    if (leaf.kernel->unit != machine::UnitKind::kMatrix)
        return unit.seconds * VectorBlocks(unit, leaf).least(m, n, k);
    return seconds_of_tiles(unit, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
}

}  // namespace tessera::cost
