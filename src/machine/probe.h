#pragma once

#include <set>
#include <string>

#include "machine/machine.h"

namespace tessera::machine {

/// The machine that this process runs on, as far as it can be known without measuring: physical cores of the
/// affinity mask within the cgroup's quota, caches, memory, features, units, flags. Quick (hwloc reads /sys).
/// The name is "host".
/// @throws Error on an ISA that Tessera does not know
Machine probe_host();

/// Features of this CPU that this process may use, for `missing_features`: may code for a machine run here?
/// If there are AMX tiles, asks the system for them (tile_permission.h); if refused, leaves them out.
std::set<std::string> host_features();

}  // namespace tessera::machine
