#pragma once

#include <string>

#include "chip/device_program.h"
#include "partition/chip_tables.h"

namespace tessera::partition {

/// The device program of a schedule (paper 003, 4.5): every tile on a core, and every transfer.
///
/// Tiles lie on the cores in order, on a grid each iterator along its axes. A tile's compute is given to its
/// unit as so many flops that the simulator, which knows no blocks, ports and overheads, takes its cycles. An
/// operand on the chip comes from the cores that share it, each of which has an even part; from the next core
/// where nobody shares it.
/// @throws Error if it has more than `most_parts` transfers and tiles
chip::DeviceProgram device_program(const ChipTables& tables, const chip::Schedule& schedule,
                                   const chip::ChipDescription& chip, const std::string& name,
                                   size_t most_parts = 2'000'000);

/// In the format that `tessera chip simulate` reads (docs/chip.md).
std::string device_program_json(const chip::DeviceProgram& program, const chip::Chip& chip);

}  // namespace tessera::partition
