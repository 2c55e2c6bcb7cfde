#pragma once

#include "machine/machine.h"
#include "measure/options.h"

namespace tessera::measure {

/// What it costs workers of the run time to meet, by their number: 2, 4, ... and all cores.
void measure_barriers(machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
