#pragma once

#include <string>
#include <vector>

#include "lowering/movement/program_names.h"
#include "lowering/movement/verify_program.h"

namespace tessera::movement {

/// True if it can be the name of something in emitted code.
bool is_identifier(const std::string& name);

/// The part of `verify` that concerns the buffers' names and the body of one kernel. `names`: the symbols.
void verify_kernel(const Kernel& kernel, ProgramNames& names, std::vector<ProgramFault>& faults);

}  // namespace tessera::movement
