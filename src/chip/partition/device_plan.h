#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "chip/device_program.h"
#include "chip/partition/chip_tables.h"

namespace tessera::partition {

/// The device program of a schedule (paper 003, 4.5): every tile on a core, and every transfer.
///
/// Every operator in its row by itself (chip/partition/operator_program.h): an operand on the chip is assumed
/// to lie on the cores that share it.
/// @throws Error if it has more than `most_parts` transfers and tiles
chip::DeviceProgram device_program(const ChipTables& tables, const chip::Schedule& schedule,
                                   const chip::ChipDescription& chip, const std::string& name,
                                   size_t most_parts = 2'000'000);

/// The preloads and executes of a schedule in their order.
std::vector<chip::ProgramEntry> entries_of(const chip::Schedule& schedule);

/// In the format that `tessera chip simulate` reads (docs/chip.md).
std::string device_program_json(const chip::DeviceProgram& program, const chip::Chip& chip);
/// With the plan of each position as its `plan`.
std::string device_program_json(const chip::DeviceProgram& program, const chip::Chip& chip,
                                const std::vector<nlohmann::ordered_json>& plans);

}  // namespace tessera::partition
