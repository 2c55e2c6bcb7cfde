#pragma once

#include "machine/machine.h"
#include "measure/options.h"

namespace tessera::measure {

/// Operations per second of one core by the level that feeds the unit: multiply-adds and dot products on
/// registers alone, and NTT's register block with one factor from the level and the other from L1. Units that
/// NTT has no products for (docs/machine.md) stay without.
/// @throws Error where the probe cannot be compiled
void measure_peaks(machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
