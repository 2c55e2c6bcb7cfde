#pragma once

#include "machine/machine.h"
#include "measure/options.h"

namespace tessera {

/// The machine with everything measured that docs/machine.md lists. It must be the one that this process runs
/// on: code for it is compiled and run.
/// @throws Error where there is no C++ compiler or not enough memory
Machine measure_machine(Machine machine, const MeasureOptions& options);

}  // namespace tessera
