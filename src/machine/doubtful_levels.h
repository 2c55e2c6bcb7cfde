#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace tessera::machine {

/// Caches that do not behave as what the system says of them, one sentence each: loads from half of such a
/// level wait about as long as those of the next one, so that less of it is this machine's than is written.
/// That happens to virtual machines, which share the last cache with others. Nothing for what was not
/// measured.
std::vector<std::string> doubtful_levels(const Machine& machine);

}  // namespace tessera::machine
