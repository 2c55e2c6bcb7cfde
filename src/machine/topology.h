#pragma once

#include <memory>

#include <hwloc.h>

namespace tessera::machine {

struct DestroyTopology {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// The part of the machine within the affinity mask of this process. @throws Error
Topology load_topology();

}  // namespace tessera::machine
