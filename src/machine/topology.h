#pragma once

#include <memory>

#include <hwloc.h>

namespace tessera::machine {

struct DestroyTopology {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// What the affinity mask of this process leaves of the machine. @throws Error
Topology load_topology();

}  // namespace tessera::machine
