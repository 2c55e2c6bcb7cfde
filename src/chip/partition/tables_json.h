#pragma once

#include <string>

#include "chip/partition/chip_tables.h"

namespace tessera::partition {

/// The problem in the format that `tessera chip schedule` reads (docs/chip.md).
/// @throws Error for a grid, whose links the format cannot describe.
std::string tables_json(const ChipTables& tables, const chip::ChipDescription& chip,
                        const std::string& where);

/// The tiles of a plan: "n/92 k/16, W rotates 4 x along k", "whole" for one tile.
std::string plan_text(const PlannedOperator& op, const ExecutePlan& plan);

}  // namespace tessera::partition
