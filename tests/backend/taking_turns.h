#pragma once

#include <cstdint>

#include "tessera/step.h"

namespace tessera::testing {

/// The order in which the workers have their turns between two barriers.
enum class Turns { kAscending, kDescending, kRandom };

/// Calls an entry for every worker, one after the other: between two barriers each has one turn, alone. A
/// worker that needs what another one makes in the same phase, or overwrites what another one still needs,
/// shows in the results of some order, every time, whatever the machine does.
/// @pre every worker meets the others equally often.
void run_by_turns(TesseraStepFunction entry, const TesseraStep& step, int64_t workers, Turns turns,
                  uint64_t seed);

}  // namespace tessera::testing
