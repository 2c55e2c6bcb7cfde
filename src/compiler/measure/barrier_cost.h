#pragma once

#include "compiler/measure/options.h"
#include "machine/machine.h"

namespace tessera::measure {

/// Measures the cost of a barrier of the run time's workers, by their number: 2, 4, ... and all cores.
void measure_barriers(machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
