#pragma once

#include "compiler/measure/options.h"
#include "machine/machine.h"
#include "run/runtime/shared_library.h"

namespace tessera::measure {

/// Bytes that one of `threads` threads reads again and again so that they come from level `level` of the
/// machine: half of its share of the level, and for the main memory four times the last cache. 0 if its share
/// is less than twice the next inner level, which would then serve the reads.
///
/// With `most_bytes` caches get no more than eight times the next inner level, and the main memory, of which
/// calls read another part each, 256 MiB of all threads together or twice their last caches. 0 where that is
/// more than allowed.
int64_t working_set(const machine::Machine& machine, size_t level, int64_t threads,
                    const MeasureOptions& options);

/// Bytes that one call reads of such a working set: all, but with `most_bytes` a part of the main memory's.
int64_t bytes_of_call(int64_t working_set, const MeasureOptions& options);

/// Read bandwidth of every level by number of threads, with the prefetch distance that gave it.
/// @param probe of `roof_code`
void measure_bandwidth(machine::Machine& machine, const runtime::SharedLibrary& probe,
                       const MeasureOptions& options);

/// Seconds of a load that waits for the one before, of every level.
void measure_latency(machine::Machine& machine, const MeasureOptions& options);

}  // namespace tessera::measure
