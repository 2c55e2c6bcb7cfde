#pragma once

#include <string>

#include "machine/machine.h"
#include "measure/options.h"

namespace tessera::measure {

/// The machine with everything measured that docs/machine.md lists. It must be the one that this process runs
/// on: code for it is compiled and run.
/// @throws Error where there is no C++ compiler or not enough memory
machine::Machine measure_machine(machine::Machine machine, const MeasureOptions& options);

/// The digest that `measure_machine` would write as `measured_with`: rates of another digest are of other
/// kernels, sizes or compilers.
/// @throws Error where there is no C++ compiler
std::string kernels_digest(const machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
