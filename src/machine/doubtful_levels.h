#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace tessera::machine {

/// Caches that do not behave as the system describes them, one sentence each: loads from half of such a level
/// wait about as long as those of the next one, so that this machine has less of it than stated. That happens
/// to virtual machines, which share the last cache with others. Levels that were not measured are left out.
std::vector<std::string> doubtful_levels(const Machine& machine);

}  // namespace tessera::machine
