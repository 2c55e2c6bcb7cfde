#pragma once

#include "machine/machine.h"
#include "measure/options.h"

namespace tessera::measure {

/// Bytes that one of `threads` threads reads again and again so that they come from level `level` of the
/// machine: half of its share of the level, and for the main memory four times the last cache. 0 if its share
/// is less than twice the next inner level, which would then serve the reads.
int64_t working_set(const machine::Machine& machine, size_t level, int64_t threads,
                    const MeasureOptions& options);

/// Read bandwidth of every level by number of threads, with the prefetch distance that gave it.
/// @throws Error where the probe cannot be compiled
void measure_bandwidth(machine::Machine& machine, const MeasureOptions& options);

/// Seconds of a load that waits for the one before, of every level.
void measure_latency(machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
