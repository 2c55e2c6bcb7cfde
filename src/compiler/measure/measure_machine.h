#pragma once

#include <string>

#include "compiler/measure/options.h"
#include "machine/machine.h"

namespace tessera::measure {

/// The machine with everything measured that docs/machine.md lists. It must be the one that this process runs
/// on: code for it is compiled and run.
/// @throws Error where there is no C++ compiler or not enough memory
machine::Machine measure_machine(machine::Machine machine, const MeasureOptions& options);

/// The digest that `measure_machine` writes as `measured_with`: rates of another digest are of other
/// compilers or, where the machine has rates of micro-kernels, of other kernels or sizes.
/// @throws Error where there is no C++ compiler
std::string kernels_digest(const machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
