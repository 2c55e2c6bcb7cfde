#include "machine/probe.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "machine/cgroup.h"
#include "machine/cpu_features.h"
#include "machine/host_memory.h"
#include "machine/tile_permission.h"
#include "machine/topology.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

int64_t cores_below(hwloc_topology_t topology, hwloc_obj_t object) {
    const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE);
    return std::max(cores, 1);  // some virtual machines report caches and processors, but no cores
}

int64_t usable_cores(hwloc_topology_t topology, const CgroupLimits& limits) {
    int64_t cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    if (cores <= 0) cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    // Rounded down: workers meet at barriers, and one that is throttled stops all.
    if (limits.processors) cores = std::min(cores, static_cast<int64_t>(*limits.processors));
    return std::max<int64_t>(cores, 1);
}

void add_caches(hwloc_topology_t topology, Machine& machine) {
    constexpr std::array kCaches = {std::pair{HWLOC_OBJ_L1CACHE, "L1"}, std::pair{HWLOC_OBJ_L2CACHE, "L2"},
                                    std::pair{HWLOC_OBJ_L3CACHE, "L3"}};
    for (const auto& [type, level_name] : kCaches) {
        const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
        if (cache == nullptr || cache->attr->cache.size == 0) continue;
        machine.memory.push_back({.name = level_name,
                                  .capacity_bytes = static_cast<int64_t>(cache->attr->cache.size),
                                  .shared_by_cores = cores_below(topology, cache)});
        if (cache->attr->cache.linesize > 0) machine.cache_line_bytes = cache->attr->cache.linesize;
    }
}

void add_main_memory(hwloc_topology_t topology, Machine& machine) {
    const hwloc_obj_t root = hwloc_get_root_obj(topology);
    int64_t bytes = host_memory_bytes();
    // The memory of the nodes in the affinity mask; hwloc knows none where /sys is not mounted.
    if (root->total_memory > 0) bytes = std::min(bytes, static_cast<int64_t>(root->total_memory));
    machine.memory.push_back({.name = "memory",
                              .capacity_bytes = rounded_memory(bytes),
                              .shared_by_cores = cores_below(topology, root)});
}

}  // namespace

std::set<std::string> host_features() {
    std::ifstream file("/proc/cpuinfo");
    std::set<std::string> features = parse_cpuinfo(std::string(std::istreambuf_iterator<char>(file), {}));
    // A feature of the CPU that the system does not enable would end in an illegal instruction.
    if (features.contains("amx_tile") && !request_tiles())
        std::erase_if(features, [](const std::string& name) { return name.starts_with("amx"); });
    return features;
}

Machine probe_host() {
    const Topology topology = load_topology();
    const CgroupLimits limits = read_cgroup_limits("/");
    const std::set<std::string> features = host_features();
    Machine machine{.name = "host", .isa = kHostIsa};
    machine.cores = usable_cores(topology.get(), limits);
    add_caches(topology.get(), machine);
    add_main_memory(topology.get(), machine);
    machine.units = feature_units(kHostIsa, features);
    machine.compiler.flags = feature_flags(kHostIsa, features);
    return machine;
}

}  // namespace tessera::machine
