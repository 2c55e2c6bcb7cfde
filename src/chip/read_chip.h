#pragma once

#include <string>
#include <string_view>

#include "chip/chip.h"
#include "chip/device_program.h"
#include "support/json.h"

namespace tessera::chip {

/// Reads a chip (docs/chip.md has the format). @throws Error that names the place ("hbm[1].at[0]"), the value
/// and what was expected.
Chip read_chip(std::string_view json, const std::string& where);

/// Reads a device program for `chip`. @throws likewise, also for cores, units and controllers that the chip
/// does not have. Whether it deadlocks or overflows is for the simulator to say.
DeviceProgram read_device_program(std::string_view json, const std::string& where, const Chip& chip);

/// The text of a device program, and the program that it has. An operator with a `plan` may leave out its
/// work and its spaces; they are empty then.
JsonCursor parse_device_program(std::string_view json, const std::string& where);
DeviceProgram read_planned_program(const JsonCursor& file, const Chip& chip);

}  // namespace tessera::chip
