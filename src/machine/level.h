#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/measurements.h"

namespace tessera::machine {

/// A quantity is kept as it was given: by the second, or by the cycle of the machine's clock.
enum class Clocked : uint8_t { kSeconds, kCycles };

/// Bytes or operations by the second or by the cycle.
struct Rate {
    double value = 0;
    Clocked by = Clocked::kSeconds;
    double per_second(double clock_hz) const { return by == Clocked::kSeconds ? value : value * clock_hz; }
    double per_cycle(double clock_hz) const { return by == Clocked::kCycles ? value : value / clock_hz; }
    bool operator==(const Rate&) const = default;
};

/// Seconds or cycles.
struct Latency {
    double value = 0;
    Clocked in = Clocked::kSeconds;
    double seconds(double clock_hz) const { return in == Clocked::kSeconds ? value : value / clock_hz; }
    double cycles(double clock_hz) const { return in == Clocked::kCycles ? value : value * clock_hz; }
    bool operator==(const Latency&) const = default;
};

/// How the instances of a level reach each other. `kShared`: they have no memory of their own and meet in
/// that of the level around them. On grids links lead to
/// neighbours; a torus wraps around its edges, and links of a one-way torus lead right and down only.
enum class LinkTopology : uint8_t { kShared, kAllToAll, kMesh, kTorus, kOneWayTorus };

std::string_view name(LinkTopology topology);  ///< "shared", "all-to-all", "mesh", ...
std::optional<LinkTopology> find_topology(std::string_view name);
std::string topology_names();  ///< "shared, all-to-all, .. or one-way torus"
constexpr bool is_grid(LinkTopology topology) {
    return topology >= LinkTopology::kMesh;
}

/// The links between the instances of a level that one instance of the level around it holds.
struct Links {
    LinkTopology topology = LinkTopology::kAllToAll;
    std::vector<int64_t> shape;      ///< instances along each axis of a grid; empty otherwise
    Rate bytes;                      ///< of a link; where there is no grid, into an instance
    std::optional<Latency> latency;  ///< of a link, from a byte's entry to its arrival
    bool operator==(const Links&) const = default;
};

/// Equal parts of a level's memory that have a rate and ports of their own, such as stacks of HBM.
struct Modules {
    int64_t count = 1;
    Rate bytes;  ///< of one module, all its ports together, reads and writes
    std::optional<Rate>
        port_bytes;  ///< of a port; without it that of a link on a grid, otherwise the module's
    Latency latency;
    std::string edge;  ///< of the grid inside, whose instances have a port: "left", "right", "top", "bottom"
    std::vector<int64_t> at;  ///< or these instances: divided among the modules in this order
    bool operator==(const Modules&) const = default;
};

/// One level of a machine. All instances of a level are alike.
struct Level {
    std::string name;
    int64_t count = 1;                          ///< instances within one of the level around it
    std::optional<int64_t> capacity_bytes;      ///< of one instance; none: no memory of its own, or no limit
    int64_t reserved_bytes = 0;                 ///< of these: a buffer through which arriving data passes
    std::optional<Rate> bytes;                  ///< between the memory of one instance and all that is inside
    std::optional<double> latency_seconds;      ///< of one dependent load; absent until measured
    std::vector<ReadBandwidth> read_bandwidth;  ///< by ascending threads; empty until measured
    /// Innermost instances that one instance serves, where it is not the product of the counts inside: a host
    /// whose process may use some cores alone.
    std::optional<int64_t> shared_by_cores;
    std::optional<Links> links;
    std::vector<Modules> modules;
    bool operator==(const Level&) const = default;
};

/// Instances with a port of `modules`, which is on a grid of this shape, in the order in which they are
/// divided among the modules. Instance (r, c) of a grid of two axes is r * columns + c. @pre an edge has two
/// axes
std::vector<int64_t> attached(const Modules& modules, const std::vector<int64_t>& shape);
/// How many there are, without listing them.
size_t attached_count(const Modules& modules, const std::vector<int64_t>& shape);

}  // namespace tessera::machine
