#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "machine/description_text.h"
#include "machine/measured_fields.h"
#include "machine/older_formats.h"
#include "machine/unit_fields.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

Level read_level(TomlFields& fields, const Clock& clock) {
    Level level;
    level.name = fields.text("name");
    level.count = fields.integer("count", 1, kMostInstances);
    if (fields.has("capacity_bytes")) level.capacity_bytes = fields.integer("capacity_bytes", 1, kMaxBytes);
    if (fields.has("reserved_bytes")) {
        level.reserved_bytes = fields.integer("reserved_bytes", 0, kMaxBytes);
        if (!level.capacity_bytes) fields.refuse("reserved_bytes", "is given without `capacity_bytes`");
        if (level.reserved_bytes >= *level.capacity_bytes)
            fields.refuse("reserved_bytes",
                          fmt::format("is {}, expected less than the {} bytes of `capacity_bytes`",
                                      level.reserved_bytes, *level.capacity_bytes));
    }
    level.bytes = read_rate(fields, "bytes", clock);
    level.latency_seconds = fields.positive("latency_seconds");
    level.read_bandwidth = read_bandwidths(fields);
    if (fields.has("shared_by_cores"))
        level.shared_by_cores = fields.integer("shared_by_cores", 1, kMaxCores);
    if (fields.has("links")) {
        TomlFields links = fields.table("links");
        level.links = read_links(links, "bytes", level.count, clock);
        links.finish();
    }
    return level;
}

/// A CPU has one main memory, caches inside of it, and cores that hold nothing. Rates are measured.
void check_cpu_level(const TomlFields& fields, const Level& level, bool is_outermost, bool is_innermost) {
    for (const char* key : {"reserved_bytes", "bytes_per_second", "bytes_per_cycle", "links", "module"})
        if (fields.has(key)) fields.refuse(key, "is set, and levels of a CPU have none");
    if (is_outermost && level.count != 1)
        fields.refuse("count", fmt::format("is {}, and a CPU has one main memory", level.count));
    if (!is_innermost && !level.capacity_bytes) fields.refuse("capacity_bytes", "is missing");
    if (is_innermost)
        for (const char* key : {"capacity_bytes", "latency_seconds", "read_bandwidth", "shared_by_cores"})
            if (fields.has(key))
                fields.refuse(key, "is set, and the innermost level of a CPU is a core, which has none");
}

/// Chips and clusters state the rates of a level, which nobody measures.
void check_other_level(const TomlFields& fields) {
    for (const char* key : {"latency_seconds", "read_bandwidth", "shared_by_cores"})
        if (fields.has(key)) fields.refuse(key, "is set, and only levels of a CPU have it");
}

std::vector<Level> read_levels(TomlFields& file, bool is_of_cpu, const Clock& clock) {
    std::vector<TomlFields> tables = file.tables("level");
    std::vector<Level> levels;
    for (TomlFields& fields : tables) levels.push_back(read_level(fields, clock));
    check_names_differ(file, "level", levels);
    if (is_of_cpu && levels.size() < 2)
        file.refuse("level", "has one level, expected at least the main memory and the core");
    const std::vector<int64_t> inside = instances_inside(levels);
    for (size_t i = 0; i < levels.size(); ++i) {
        const bool is_innermost = i + 1 == levels.size();
        if (is_of_cpu)
            check_cpu_level(tables[i], levels[i], i == 0, is_innermost);
        else
            check_other_level(tables[i]);
        if (tables[i].has("module")) {
            if (is_innermost)
                tables[i].refuse("module", "is set, and no level inside has links to its ports");
            for (TomlFields& module : tables[i].tables("module")) {
                add_modules(module, "count", levels[i + 1], clock, levels[i]);
                module.finish();
            }
        }
        if (levels[i].shared_by_cores == inside[i]) levels[i].shared_by_cores.reset();
        tables[i].finish();
    }
    return levels;
}

void read_cores(TomlFields& file, Description& description) {
    const int64_t cores = instances_inside(description.levels).front();
    if (cores > kMaxCores)
        file.refuse("level", fmt::format("has {} cores in all, expected at most {}", cores, kMaxCores));
    if (file.has("usable_cores")) description.cpu->usable_cores = file.integer("usable_cores", 1, kMaxCores);
    if (description.cpu->usable_cores == cores) description.cpu->usable_cores.reset();
}

std::vector<std::string> names_of(const std::vector<Level>& levels) {
    std::vector<std::string> names;
    for (const Level& level : levels)
        if (level.capacity_bytes) names.push_back(level.name);
    return names;
}

std::vector<TileCosts> read_all_tile_costs(TomlFields& file) {
    std::vector<TileCosts> all;
    for (const TomlFields& entry : file.tables("tile_cost")) {
        all.push_back(read_tile_costs(entry));
        for (size_t i = 0; i + 1 < all.size(); ++i)
            if (all[i].kind == all.back().kind)
                entry.refuse("operator", fmt::format("is {} a second time", name(all.back().kind)));
    }
    return all;
}

Description read_fields(TomlFields file, const std::string& where) {
    Description description;
    description.name = file.text("name");
    const bool is_cpu = file.has("isa") || file.has("cache_line_bytes") || file.has("compiler");
    if (is_cpu) description.cpu = read_cpu(file);
    if (!is_cpu && file.has("clock_hz")) description.clock_hz = file.real("clock_hz", 1, 1e12);
    if (!is_cpu && file.has("tile_overhead_cycles"))
        description.tile_overhead_cycles = file.real("tile_overhead_cycles", 0, 1e9);
    description.levels = read_levels(file, is_cpu, description.clock_hz);
    const std::vector<std::string> names = names_of(description.levels);
    for (const TomlFields& unit : file.tables("unit"))
        description.units.push_back(read_unit(unit, names, is_cpu, description.clock_hz));
    check_names_differ(file, "unit", description.units);
    if (is_cpu) {
        read_cores(file, description);
        description.cpu->barriers = read_barriers(file);
        description.cpu->rank_links = read_rank_links(file);
        description.cpu->micro_kernels = read_micro_kernels(file, names);
        check_f32_vector(file, cpu_machine(description, where));
    } else {
        if (file.has("energy")) description.energy = read_energy(file.table("energy"));
        if (file.has("tile_cost")) description.tile_costs = read_all_tile_costs(file);
    }
    file.finish();
    return description;
}

}  // namespace

Description read_description_table(const toml::table& table, const std::string& where) {
    if (const auto older = read_older_format(table, where)) return *older;
    return read_fields(TomlFields(table, where), where);
}

Description parse_description(std::string_view toml, const std::string& where) {
    return read_description_table(TomlDocument(toml, where).table(), where);
}

Description read_description(const std::filesystem::path& path) {
    return parse_description(read_toml_text(path, "machine"), path.string());
}

}  // namespace tessera::machine
