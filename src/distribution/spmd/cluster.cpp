#include "distribution/spmd/cluster.h"

#include <fmt/core.h>

#include "machine/toml_document.h"

namespace tessera::spmd {
namespace {

constexpr int64_t kMostDevices = 65'536;  // of one level
constexpr size_t kMostLevels = 6;
constexpr int64_t kMostBytes = int64_t{1} << 50;
// Of ranks on one host whose links nobody has measured (`tessera machine --ranks`): two processes that meet
// in shared memory, and copies by a core.
constexpr double kLocalLatency = 1e-6, kLocalBytesPerSecond = 5e9;
constexpr double kSlowest = 1, kFastest = 1e21;  // a second

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& where) {
    const machine::TomlDocument document(text, where);
    machine::TomlFields fields = document.fields();
    Cluster cluster{.name = fields.text("name"), .levels = {}, .placement = {}, .memory = {}};
    machine::TomlFields device = fields.table("device");
    cluster.flops_per_second = device.real("flops_per_second", kSlowest, kFastest);
    cluster.bytes_per_second = device.real("bytes_per_second", kSlowest, kFastest);
    device.finish();
    std::vector<machine::TomlFields> levels = fields.tables("level");
    bool is_shared = false;
    for (machine::TomlFields& level : levels) {
        distribution::Level each;
        cluster.levels.push_back(level.text("name"));
        each.count = level.integer("count", 2, kMostDevices);
        each.latency = level.real("latency_seconds", 0, 1);
        each.seconds_per_byte = 1 / level.real("bytes_per_second", kSlowest, kFastest);
        if (level.has("shares_memory")) each.shares_memory = level.boolean("shares_memory");
        if (is_shared && !each.shares_memory)
            level.refuse("shares_memory", "is false within a level that shares memory",
                         "put the levels that share memory innermost");
        is_shared = each.shares_memory;
        level.finish();
        cluster.placement.levels.push_back(each);
    }
    if (levels.size() > kMostLevels)
        fields.refuse("level", fmt::format("has {} levels, expected at most {}", levels.size(), kMostLevels));
    if (fields.has("memory_bytes")) cluster.memory = fields.integer("memory_bytes", 1, kMostBytes);
    fields.finish();
    return cluster;
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
