#include "machine/topology.h"

#include "support/error.h"

namespace tessera::machine {

Topology load_topology() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw Error("", "", "hwloc cannot describe this machine");
    Topology topology(raw);
    // The affinity mask of this process, not of the whole machine: `taskset -c 0` means one core.
    hwloc_topology_set_flags(raw,
                             HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    if (hwloc_topology_load(raw) != 0) throw Error("", "", "hwloc cannot describe this machine");
    return topology;
}

}  // namespace tessera::machine
