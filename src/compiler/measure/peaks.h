#pragma once

#include "compiler/measure/options.h"
#include "machine/machine.h"
#include "run/runtime/shared_library.h"

namespace tessera::measure {

/// Operations per second of one core by the level that feeds the unit: multiply-adds and dot products on
/// registers alone, and NTT's register block with one factor from the level and the other from L1. Units that
/// NTT has no products for (docs/machine.md) stay without.
/// @param code of `roof_code`
void measure_peaks(machine::Machine& machine, const runtime::SharedLibrary& code,
                   const MeasureOptions& options);

}  // namespace tessera::measure
