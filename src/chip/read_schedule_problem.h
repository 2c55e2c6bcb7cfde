#pragma once

#include <string>
#include <string_view>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// Reads a problem (docs/chip.md has the whole format). Keys that it does not know are left alone.
/// @throws Error that names the place ("operators[3].rows[1].compute"), the value and what was expected; also
/// for more than 100,000 positions, and sizes beyond 2^45 bytes.
ScheduleProblem read_schedule_problem(std::string_view json, const std::string& where);

}  // namespace tessera::chip
