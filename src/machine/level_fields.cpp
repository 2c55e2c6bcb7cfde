#include "machine/level_fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr double kLeastPerSecond = 1, kMostPerSecond = 1e21;
constexpr double kLeastPerCycle = 1e-3, kMostPerCycle = 1e9;
constexpr double kMostSecondsOfLatency = 1, kMostCyclesOfLatency = 1e9;
constexpr int64_t kMostModules = 4096;  // of a level
constexpr size_t kMostAxes = 8;

/// Which of two spellings the table has; none without either.
std::optional<Clocked> spelling(TomlFields& fields, const std::string& seconds, const std::string& cycles,
                                const Clock& clock) {
    if (fields.has(cycles)) {
        if (fields.has(seconds))
            fields.refuse(cycles, fmt::format("is set, and so is `{}`", seconds), "leave one of them out");
        if (!clock) fields.refuse(cycles, "counts cycles, and the machine has no `clock_hz`");
        return Clocked::kCycles;
    }
    if (fields.has(seconds)) return Clocked::kSeconds;
    return std::nullopt;
}

void read_shape(TomlFields& fields, int64_t count, Links& links) {
    if (!is_grid(links.topology)) {
        if (fields.has("shape"))
            fields.refuse("shape",
                          fmt::format("is set, and a network that is {} has none", name(links.topology)),
                          "say topology = \"mesh\", or leave it out");
        return;
    }
    links.shape = fields.integers("shape", 1, kMostInstances);
    if (links.shape.empty() || links.shape.size() > kMostAxes)
        fields.refuse("shape", fmt::format("has {} axes, expected 1 to {}", links.shape.size(), kMostAxes));
    int64_t product = 1;
    for (const int64_t extent : links.shape) product = std::min(product * extent, 2 * kMostInstances);
    if (product != count)
        fields.refuse("shape", fmt::format("is {}, and the level has {} instances",
                                           fmt::join(links.shape, " x "), count));
}

/// Instances of a grid that the modules are attached to.
void read_attached(TomlFields& fields, const Level& inside, Modules& modules) {
    if (fields.has("edge")) {
        if (fields.has("at")) fields.refuse("at", "is set, and so is `edge`", "leave one of them out");
        modules.edge = fields.text("edge");
        if (modules.edge != "left" && modules.edge != "right" && modules.edge != "top" &&
            modules.edge != "bottom")
            fields.refuse("edge", fmt::format("is {}, expected left, right, top or bottom", modules.edge));
        if (inside.links->shape.size() != 2)
            fields.refuse(
                "edge",
                fmt::format("is set, and a grid of {} axes has no such edge", inside.links->shape.size()),
                "name the instances with `at`");
        return;
    }
    modules.at = fields.integers("at", 0, inside.count - 1);
    if (modules.at.empty())
        fields.refuse("at", "is [], expected the instances that the modules are attached to");
    std::vector<int64_t> sorted = modules.at;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fields.refuse("at", fmt::format("names {} twice", *twice));
}

/// The ports of a module carry what it delivers.
void check_ports(const TomlFields& fields, const Modules& modules, const Links& links, size_t ports,
                 double clock_hz) {
    const Rate& port = modules.port_bytes.value_or(is_grid(links.topology) ? links.bytes : modules.bytes);
    const double all_ports = static_cast<double>(ports) * port.per_second(clock_hz);
    const double module = modules.bytes.per_second(clock_hz);
    if (all_ports >= module * (1 - 1e-9)) return;
    const std::string_view named = modules.port_bytes ? "port_bytes_per_" : "bytes_per_";
    const Clocked by = modules.port_bytes ? modules.port_bytes->by : modules.bytes.by;
    fields.refuse(fmt::format("{}{}", named, by == Clocked::kSeconds ? "second" : "cycle"),
                  fmt::format("gives a module {:.4g} B/s through {} ports that carry {:.4g} B/s together",
                              module, ports, all_ports),
                  "attach it to more instances, or make its ports faster");
}

}  // namespace

std::optional<Rate> read_rate(TomlFields& fields, std::string_view quantity, const Clock& clock) {
    const std::string second = fmt::format("{}_per_second", quantity);
    const std::string cycle = fmt::format("{}_per_cycle", quantity);
    const std::optional<Clocked> by = spelling(fields, second, cycle, clock);
    if (!by) return std::nullopt;
    return *by == Clocked::kSeconds ? Rate{fields.real(second, kLeastPerSecond, kMostPerSecond), *by}
                                    : Rate{fields.real(cycle, kLeastPerCycle, kMostPerCycle), *by};
}

Rate required_rate(TomlFields& fields, std::string_view quantity, const Clock& clock) {
    const std::optional<Rate> rate = read_rate(fields, quantity, clock);
    if (!rate)
        fields.refuse(fmt::format("{}_per_second", quantity), "is missing",
                      clock ? fmt::format("or {}_per_cycle", quantity) : "");
    return *rate;
}

std::optional<Latency> read_latency(TomlFields& fields, const Clock& clock) {
    const std::optional<Clocked> in = spelling(fields, "latency_seconds", "latency_cycles", clock);
    if (!in) return std::nullopt;
    return *in == Clocked::kSeconds ? Latency{fields.real("latency_seconds", 0, kMostSecondsOfLatency), *in}
                                    : Latency{fields.real("latency_cycles", 0, kMostCyclesOfLatency), *in};
}

Latency required_latency(TomlFields& fields, const Clock& clock) {
    const std::optional<Latency> latency = read_latency(fields, clock);
    if (!latency) fields.refuse(clock ? "latency_cycles" : "latency_seconds", "is missing");
    return *latency;
}

Links read_links(TomlFields& fields, std::string_view quantity, int64_t count, const Clock& clock) {
    Links links;
    const std::string kind = fields.text("topology");
    const std::optional<LinkTopology> topology = find_topology(kind);
    if (!topology) fields.refuse("topology", fmt::format("is {}, expected {}", kind, topology_names()));
    links.topology = *topology;
    links.bytes = required_rate(fields, quantity, clock);
    links.latency = read_latency(fields, clock);
    read_shape(fields, count, links);
    return links;
}

void add_modules(TomlFields& fields, std::string_view count_key, const Level& inside, const Clock& clock,
                 Level& level) {
    Modules modules;
    if (fields.has(count_key)) modules.count = fields.integer(count_key, 1, kMostModules);
    int64_t all = modules.count;
    for (const Modules& before : level.modules) all += before.count;
    if (all > kMostModules)
        fields.refuse(count_key,
                      fmt::format("makes {} modules in all, expected at most {}", all, kMostModules));
    modules.bytes = required_rate(fields, "bytes", clock);
    modules.port_bytes = read_rate(fields, "port_bytes", clock);
    modules.latency = required_latency(fields, clock);
    const auto count = static_cast<size_t>(modules.count);
    size_t ports = 1;
    if (inside.links && is_grid(inside.links->topology)) {
        read_attached(fields, inside, modules);
        const size_t instances = attached_count(modules, inside.links->shape);
        if (instances % count != 0)
            fields.refuse(count_key, fmt::format("is {}, and {} {}s cannot be divided among them", count,
                                                 instances, inside.name));
        ports = instances / count;
    } else {
        for (const char* key : {"at", "edge"})
            if (fields.has(key))
                fields.refuse(
                    key, fmt::format("is set, and every {} is as near where there is no grid", inside.name),
                    "leave it out");
    }
    check_ports(fields, modules, inside.links.value_or(Links{}), ports, clock.value_or(1));
    level.modules.push_back(std::move(modules));
}

}  // namespace tessera::machine
