#include "machine/older_formats.h"

#include <algorithm>

#include <fmt/format.h>

#include "machine/level_fields.h"
#include "machine/measured_fields.h"
#include "machine/unit_fields.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr int64_t kMostChipCores = 65'536;
constexpr int64_t kMostChips = 65'536;
constexpr int64_t kMostDevices = 65'536;  // of one level
constexpr const char* kDevice = "device";

MemoryLevel read_memory(TomlFields fields) {
    MemoryLevel level;
    level.name = fields.text("name");
    level.capacity_bytes = fields.integer("capacity_bytes", 1, kMaxBytes);
    level.shared_by_cores = fields.integer("shared_by_cores", 1, kMaxCores);
    level.latency_seconds = fields.positive("latency_seconds");
    level.read_bandwidth = read_bandwidths(fields);
    fields.finish();
    return level;
}

Description read_older_cpu(TomlFields file) {
    Machine machine{.name = file.text("name")};
    const Cpu cpu = read_cpu(file);
    machine.isa = cpu.isa;
    machine.cache_line_bytes = cpu.cache_line_bytes;
    machine.compiler = cpu.compiler;
    machine.measured_with = cpu.measured_with;
    machine.cores = file.integer("cores", 1, kMaxCores);
    std::vector<std::string> names;
    for (const TomlFields& level : file.tables("memory")) {
        machine.memory.push_back(read_memory(level));
        names.push_back(machine.memory.back().name);
    }
    for (const TomlFields& unit : file.tables("unit"))
        machine.units.push_back(read_unit(unit, names, true, std::nullopt));
    machine.barriers = read_barriers(file);
    machine.rank_links = read_rank_links(file);
    machine.micro_kernels = read_micro_kernels(file, names);
    file.finish();
    check_names_differ(file, "memory", machine.memory);
    check_names_differ(file, "unit", machine.units);
    check_f32_vector(file, machine);
    return describe(machine);
}

/// The cores of a chip, with their SRAM and network.
Level read_older_core(TomlFields& file, int64_t cores, const Clock& clock) {
    Level core{.name = "core", .count = cores};
    TomlFields sram = file.table("sram");
    const int64_t bytes = sram.integer("bytes", 1, kMaxBytes);
    core.capacity_bytes = bytes;
    if (sram.has("reserved_bytes")) core.reserved_bytes = sram.integer("reserved_bytes", 0, kMaxBytes);
    if (core.reserved_bytes >= bytes)
        sram.refuse("reserved_bytes", fmt::format("is {}, expected less than the {} bytes that a core has",
                                                  core.reserved_bytes, bytes));
    core.bytes = required_rate(sram, "port_bytes", clock);
    sram.finish();
    TomlFields network = file.table("network");
    core.links = read_links(network, "link_bytes", core.count, clock);
    if (!core.links->latency) network.refuse("latency_cycles", "is missing");
    network.finish();
    return core;
}

Unit read_older_unit(TomlFields fields, std::string name, UnitKind kind, const Clock& clock) {
    Unit unit;
    unit.name = std::move(name);
    unit.kind = kind;
    unit.operations = required_rate(fields, "flops", clock);
    if (kind == UnitKind::kMatrix)
        unit.block = read_block(fields);
    else
        unit.special_operations = read_special_operations(fields, "special_flops");
    fields.finish();
    return unit;
}

void read_older_pod(TomlFields fields, Level& chip, const Clock& clock) {
    chip.count = fields.integer("chips", 1, kMostChips);
    if (chip.count == 1) {
        for (const char* key : {"bytes_per_second", "latency_cycles"})
            if (fields.has(key))
                fields.refuse(key, "is set, and one chip has no other to talk to", "leave it out");
    } else {
        chip.links =
            Links{.bytes = required_rate(fields, "bytes", clock), .latency = required_latency(fields, clock)};
    }
    fields.finish();
}

Description read_older_chip(TomlFields file) {
    Description description{.name = file.text("name")};
    const int64_t cores = file.integer("cores", 1, kMostChipCores);
    const double clock_hz = file.real("clock_hz", 1, 1e12);
    description.clock_hz = clock_hz;
    if (file.has("tile_overhead_cycles"))
        description.tile_overhead_cycles = file.real("tile_overhead_cycles", 0, 1e9);
    Level core = read_older_core(file, cores, clock_hz);
    Level chip{.name = "chip"};
    for (TomlFields& each : file.tables("hbm")) {
        add_modules(each, "modules", core, clock_hz, chip);
        each.finish();
    }
    if (file.has("pod")) read_older_pod(file.table("pod"), chip, clock_hz);
    if (file.has("matrix"))
        description.units.push_back(
            read_older_unit(file.table("matrix"), "matrix", UnitKind::kMatrix, clock_hz));
    description.units.push_back(read_older_unit(file.table("vector"), "vector", UnitKind::kVector, clock_hz));
    if (file.has("energy")) description.energy = read_energy(file.table("energy"));
    file.finish();
    description.levels = {std::move(chip), std::move(core)};
    return description;
}

/// The innermost level that shares no memory has it; one around all levels if they all share it.
void set_memory(std::vector<Level>& levels, int64_t bytes) {
    const auto shares = [](const Level& level) { return level.links->topology == LinkTopology::kShared; };
    const auto first = std::find_if(levels.begin(), levels.end(), shares);
    if (first != levels.begin()) {
        std::prev(first)->capacity_bytes = bytes;
        return;
    }
    std::string name = "memory";
    while (std::any_of(levels.begin(), levels.end(), [&](const Level& level) { return level.name == name; }))
        name += "_";
    levels.insert(levels.begin(), Level{.name = name, .capacity_bytes = bytes});
}

Description read_older_cluster(TomlFields file) {
    Description description{.name = file.text("name")};
    TomlFields device = file.table(kDevice);
    Unit unit;
    unit.name = kDevice;
    unit.kind = UnitKind::kVector;
    unit.operations = required_rate(device, "flops", std::nullopt);
    const Rate bytes = required_rate(device, "bytes", std::nullopt);
    device.finish();
    description.units = {unit};
    bool is_shared = false;
    for (TomlFields& fields : file.tables("level")) {
        Level level{.name = fields.text("name"), .count = fields.integer("count", 2, kMostDevices)};
        level.links = Links{.bytes = required_rate(fields, "bytes", std::nullopt),
                            .latency = Latency{fields.real("latency_seconds", 0, 1)}};
        const bool shares = fields.has("shares_memory") && fields.boolean("shares_memory");
        if (is_shared && !shares)
            fields.refuse("shares_memory", "is false within a level that shares memory",
                          "put the levels that share memory innermost");
        is_shared = shares;
        if (shares) level.links->topology = LinkTopology::kShared;
        fields.finish();
        description.levels.push_back(std::move(level));
    }
    description.levels.back().bytes = bytes;
    if (file.has("memory_bytes")) set_memory(description.levels, file.integer("memory_bytes", 1, kMaxBytes));
    file.finish();
    check_names_differ(file, "level", description.levels);
    return description;
}

struct Renamed {
    std::vector<std::string> from, to;
};

/// Beginnings of paths. A longer one stands before those that it begins with.
const std::vector<Renamed>& renamed_paths() {
    static const std::vector<Renamed> paths = {
        {{"cores"}, {"level", "core", "count"}},
        {{"sram", "bytes"}, {"level", "core", "capacity_bytes"}},
        {{"sram", "port_bytes_per_cycle"}, {"level", "core", "bytes_per_cycle"}},
        {{"sram"}, {"level", "core"}},
        {{"network", "link_bytes_per_second"}, {"level", "core", "links", "bytes_per_second"}},
        {{"network"}, {"level", "core", "links"}},
        {{"hbm", "modules"}, {"level", "chip", "module", "count"}},
        {{"hbm"}, {"level", "chip", "module"}},
        {{"pod", "chips"}, {"level", "chip", "count"}},
        {{"pod"}, {"level", "chip", "links"}},
        {{"matrix", "flops_per_cycle"}, {"unit", "matrix", "operations_per_cycle"}},
        {{"matrix"}, {"unit", "matrix"}},
        {{"vector", "flops_per_cycle"}, {"unit", "vector", "operations_per_cycle"}},
        {{"vector", "special_flops"}, {"unit", "vector", "special_operations"}},
    };
    return paths;
}

}  // namespace

std::vector<std::string> renamed_chip_field(std::vector<std::string> path) {
    for (const auto& [from, to] : renamed_paths()) {
        if (path.size() < from.size() || !std::equal(from.begin(), from.end(), path.begin())) continue;
        std::vector<std::string> renamed = to;
        renamed.insert(renamed.end(), path.begin() + static_cast<ptrdiff_t>(from.size()), path.end());
        return renamed;
    }
    return path;
}

std::optional<Description> read_older_format(const toml::table& table, const std::string& where) {
    const auto has = [&](const char* key) { return table.contains(key); };
    if (has(kDevice) || has("memory_bytes")) return read_older_cluster(TomlFields(table, where));
    if (has("level")) return std::nullopt;
    if (has("memory") || (has("cores") && has("isa"))) return read_older_cpu(TomlFields(table, where));
    if (has("sram") || has("network") || has("hbm") || has("cores"))
        return read_older_chip(TomlFields(table, where));
    return std::nullopt;
}

}  // namespace tessera::machine
