#pragma once

#include "compiler/measure/options.h"
#include "machine/machine.h"

namespace tessera::measure {

/// Seconds of one call of every declared micro-kernel on one core (kernel_cases.h), with B in the core's own
/// second level and in the main memory.
/// @throws Error where the kernels cannot be compiled
void measure_micro_kernels(machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
