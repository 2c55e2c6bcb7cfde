#include "chip/partition/energy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace tessera::partition {
namespace {

constexpr double kPico = 1e-12;

/// Links on the way of a byte, in the mean over all pairs of cores.
double mean_links(const chip::ChipDescription& chip) {
    if (!chip.chip.is_grid()) return 2;  // to the switch and from it
    double links = 0;
    for (const int64_t extent : chip.shape) {
        const auto length = static_cast<double>(extent);
        links += chip.chip.topology == chip::Topology::kMesh ? (length - 1 / length) / 3
                                                             : std::floor(length * length / 4) / length;
    }
    return links;
}

}  // namespace

double row_picojoules(const PlannedOperator& op, const PlannedRow& row, const chip::ChipDescription& chip) {
    TESSERA_CHECK(chip.energy.has_value(), "{}", chip.chip.name);
    const chip::Energy& energy = *chip.energy;
    const auto cores = static_cast<double>(row.execute.tiles);
    const auto into_cores = static_cast<double>(row.execute.shift_bytes + row.preload.preload_bytes +
                                                row.preload.distribute_bytes);
    return energy.matrix_flop * row.matrix_flops + energy.vector_flop * row.vector_flops +
           energy.sram_byte * cores * (static_cast<double>(row.execute.exec_bytes) + into_cores) +
           energy.link_byte * mean_links(chip) * cores * into_cores +
           energy.hbm_byte * static_cast<double>(op.hbm_bytes + op.stored_bytes) +
           energy.chip_byte * static_cast<double>(op.exchange_bytes);
}

double joules_of(const ChipTables& tables, const std::vector<size_t>& rows,
                 const chip::ChipDescription& chip) {
    double picojoules = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const PlannedOperator& op = tables.operators[tables.problem.sequence[i]];
        picojoules += row_picojoules(op, op.rows[rows[i]], chip);
    }
    return picojoules * kPico * static_cast<double>(chip.pod.chips);
}

double least_joules(const ChipTables& tables, const chip::ChipDescription& chip) {
    std::vector<double> least;
    for (size_t o = 0; o < tables.operators.size(); ++o) {
        least.push_back(std::numeric_limits<double>::infinity());
        const std::vector<chip::Row>& rows = tables.problem.operators[o].rows;
        for (size_t r = 0; r < rows.size(); ++r)
            if (tables.problem.is_usable(rows[r]))
                least.back() = std::min(
                    least.back(), row_picojoules(tables.operators[o], tables.operators[o].rows[r], chip));
    }
    double picojoules = 0;
    for (const size_t o : tables.problem.sequence) picojoules += least[o];
    return picojoules * kPico * static_cast<double>(chip.pod.chips);
}

}  // namespace tessera::partition
