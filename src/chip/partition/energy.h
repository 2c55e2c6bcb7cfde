#pragma once

#include "chip/partition/chip_tables.h"

/// Energy of plans (docs/chip-plan.md): of what units compute, and of what SRAM, links, HBM and chips move.
/// The power of an idle chip is not known, so time takes no energy.
namespace tessera::partition {

/// Picojoules of an operator in one row, on one chip. @pre the chip has energies
double row_picojoules(const PlannedOperator& op, const PlannedRow& row, const chip::ChipDescription& chip);

/// Joules of a schedule with these rows, on all chips of the pod. @pre the chip has energies
double joules_of(const ChipTables& tables, const std::vector<size_t>& rows,
                 const chip::ChipDescription& chip);

/// The least that any rows of the tables take, within the SRAM: as every row has a schedule, one takes it.
double least_joules(const ChipTables& tables, const chip::ChipDescription& chip);

}  // namespace tessera::partition
