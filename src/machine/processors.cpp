#include "machine/processors.h"

#include <algorithm>
#include <map>

#include "machine/cgroup.h"
#include "machine/topology.h"

namespace tessera::machine {

std::vector<int> worker_processors() {
    const Topology topology = load_topology();
    // By the place within the core, then in the order of the cores.
    std::map<int, std::vector<int>> by_rank;
    std::map<hwloc_obj_t, int> taken;
    for (hwloc_obj_t processor = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PU, 0); processor != nullptr;
         processor = processor->next_cousin) {
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_CORE, processor);
        const int rank = core == nullptr ? 0 : taken[core]++;
        by_rank[rank].push_back(static_cast<int>(processor->os_index));
    }
    std::vector<int> processors;
    for (const auto& [rank, some] : by_rank) processors.insert(processors.end(), some.begin(), some.end());
    // Rounded down: workers meet at barriers, and one that is throttled stops all.
    if (const auto quota = read_cgroup_limits("/").processors) {
        const auto allowed = static_cast<size_t>(std::max(1.0, *quota));
        if (processors.size() > allowed) processors.resize(allowed);
    }
    return processors;
}

}  // namespace tessera::machine
