#include "distribution/spmd/cluster.h"

#include <algorithm>

#include <fmt/core.h>

#include "machine/description_text.h"
#include "support/error.h"

namespace tessera::spmd {
namespace {

constexpr int64_t kMostDevices = 65'536;  // of one level
constexpr size_t kMostLevels = 6;
constexpr int64_t kMostBytes = int64_t{1} << 50;
// Assumed for ranks on one host without measured links (`tessera machine --ranks`): two processes that meet
// in shared memory, and copies by a core.
constexpr double kLocalLatency = 1e-6, kLocalBytesPerSecond = 5e9;

[[noreturn]] void refuse(const std::string& where, const machine::Level& level, const std::string& problem,
                         const std::string& advice = {}) {
    throw Error(where, "level." + level.name, problem, advice);
}

distribution::Level placed(const machine::Level& level, double clock_hz, const std::string& where) {
    using Topology = machine::LinkTopology;
    if (!level.links || !level.links->latency)
        refuse(where, level,
               fmt::format("has {} instances and no `links` with a rate and a latency", level.count),
               "messages between devices need both (docs/distribution.md)");
    if (machine::is_grid(level.links->topology))
        refuse(where, level,
               fmt::format("has links that are a {}, expected shared or all-to-all",
                           machine::name(level.links->topology)));
    if (level.count < 2 || level.count > kMostDevices)
        refuse(where, level, fmt::format("has {} instances, expected 2 to {}", level.count, kMostDevices));
    return {.count = level.count,
            .latency = level.links->latency->seconds(clock_hz),
            .seconds_per_byte = 1 / level.links->bytes.per_second(clock_hz),
            .shares_memory = level.links->topology == Topology::kShared};
}

void set_device(Cluster& cluster, const machine::Description& description, double clock_hz,
                const std::string& where) {
    double operations = 0;
    for (const machine::Unit& unit : description.units)
        if (unit.operations) operations = std::max(operations, unit.operations->per_second(clock_hz));
    if (operations == 0) throw Error(where, "unit", "has none with a stated `operations_per_second`");
    const machine::Level& innermost = description.levels.back();
    if (!innermost.bytes)
        refuse(where, innermost, "has no `bytes_per_second` that a device reads from its memory");
    cluster.flops_per_second = operations;
    cluster.bytes_per_second = innermost.bytes->per_second(clock_hz);
}

}  // namespace

Cluster cluster_of(const machine::Description& description, const std::string& where) {
    const double clock_hz = description.clock_hz.value_or(1);
    Cluster cluster{.name = description.name, .levels = {}, .placement = {}, .memory = {}};
    bool is_shared = false;
    for (const machine::Level& level : description.levels) {
        if (!level.modules.empty())
            refuse(where, level, "has modules with ports of their own, which no device of a cluster has");
        const bool shares = level.links && level.links->topology == machine::LinkTopology::kShared;
        if (is_shared && !shares)
            refuse(where, level, "has memory of its own within a level that is shared",
                   "put the levels that share memory innermost");
        is_shared = shares;
        if (!shares) {
            cluster.memory = level.capacity_bytes;
            if (cluster.memory) *cluster.memory -= level.reserved_bytes;
        }
        if (level.count == 1 && !level.links) continue;
        cluster.levels.push_back(level.name);
        cluster.placement.levels.push_back(placed(level, clock_hz, where));
    }
    if (cluster.levels.empty() || cluster.levels.size() > kMostLevels)
        throw Error(where, "level",
                    fmt::format("has {} levels of several devices, expected 1 to {}", cluster.levels.size(),
                                kMostLevels));
    if (cluster.memory.value_or(0) > kMostBytes)
        throw Error(where, "capacity_bytes",
                    fmt::format("is {}, expected at most {}", *cluster.memory, kMostBytes));
    set_device(cluster, description, clock_hz, where);
    return cluster;
}

Cluster parse_cluster(std::string_view text, const std::string& where) {
    return cluster_of(machine::parse_description(text, where), where);
}

distribution::Level rank_level(const machine::Machine& machine, int64_t ranks) {
    const machine::RankLink* link = machine::find_rank_link(machine, ranks);
    return {.count = ranks,
            .latency = link ? link->latency_seconds : kLocalLatency,
            .seconds_per_byte = 1 / (link ? link->bytes_per_second : kLocalBytesPerSecond)};
}

std::string shape_text(const Cluster& cluster) {
    std::string text;
    for (size_t i = 0; i < cluster.levels.size(); ++i)
        text += fmt::format("{}{} {}", text.empty() ? "" : " x ", cluster.placement.levels[i].count,
                            cluster.levels[i]);
    return text;
}

}  // namespace tessera::spmd
