#include "chip/read_chip_toml.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.h"

namespace tessera::chip {
namespace {

using machine::Description;
using machine::Level;

constexpr int64_t kMostChipCores = 65'536;
constexpr int64_t kMostChips = 65'536;
constexpr int64_t kMostSramBytes = int64_t{1} << 40;
constexpr double kMostPerCycle = 1e18;
constexpr double kMostCyclesOfLatency = 1e9;

/// Reads the parts of a chip out of a description. Refusals say what it lacks as a chip.
class ChipReader {
public:
    ChipReader(const Description& description, const std::string& where)
        : description_(description), where_(where) {
        if (!description.clock_hz) refuse("clock_hz", "is missing, so this is no chip");
        if (description.levels.size() != 2)
            refuse("level",
                   fmt::format("has {} entries, expected the chip and its cores", description.levels.size()));
        if (chip().modules.empty()) refuse_level(chip(), "has no `module` of memory that preloads come from");
        check_cores();
    }

    Chip read() const {
        const Level& cores = core();
        Chip chip{.name = description_.name,
                  .cores = static_cast<int32_t>(cores.count),
                  .sram_bytes = *cores.capacity_bytes - cores.reserved_bytes,
                  .clock_hz = clock(),
                  .topology = cores.links->topology,
                  .link_bytes_per_cycle = per_cycle(cores, cores.links->bytes),
                  .latency = cycles(cores, *cores.links->latency),
                  .hbm = {},
                  .units = {}};
        if (const std::vector<int64_t>& shape = cores.links->shape; chip.is_grid()) {
            chip.rows = shape.size() == 1 ? 1 : static_cast<int32_t>(shape[0]);
            chip.columns = static_cast<int32_t>(shape.back());
        }
        for (const machine::Modules& modules : this->chip().modules) add_controllers(modules, chip);
        // Device programs name the units by their kinds.
        for (const machine::UnitKind kind :
             {machine::UnitKind::kMatrix, machine::UnitKind::kVector, machine::UnitKind::kScalar})
            if (const machine::Unit* first = unit(kind))
                chip.units.push_back({std::string(machine::name(kind)), flops_per_cycle(*first)});
        return chip;
    }

    /// Into each chip from the others.
    Pod pod() const {
        const Level& level = chip();
        if (level.count > kMostChips)
            refuse_level(level, fmt::format("has {} instances, expected 1 to {}", level.count, kMostChips));
        if (level.count == 1) {
            if (level.links) refuse_level(level, "has `links`, and one chip has no other to talk to");
            return {};
        }
        if (!level.links || !level.links->latency)
            refuse_level(level, "has no `links` with a rate and a latency, and there are several chips");
        if (level.links->topology != Topology::kAllToAll)
            refuse_level(level, fmt::format("has links that are {}, expected all-to-all",
                                            machine::name(level.links->topology)));
        return {.chips = level.count,
                .bytes_per_cycle = per_cycle(level, level.links->bytes),
                .latency = cycles(level, *level.links->latency)};
    }

    double port_bytes_per_cycle() const {
        if (!core().bytes) refuse_level(core(), "has no `bytes_per_cycle` between its memory and its units");
        return per_cycle(core(), *core().bytes);
    }

    /// The first unit of this kind with a rate; null without one.
    const machine::Unit* unit(machine::UnitKind kind) const {
        for (const machine::Unit& unit : description_.units)
            if (unit.kind == kind && unit.operations) return &unit;
        return nullptr;
    }

    /// @pre the unit has a rate
    double flops_per_cycle(const machine::Unit& unit) const {
        const double value = unit.operations->per_cycle(clock());
        if (value > kMostPerCycle)
            refuse("unit." + unit.name,
                   fmt::format("does {} operations a cycle, expected at most {}", value, kMostPerCycle));
        return value;
    }

    const Level& core() const { return description_.levels.back(); }

    [[noreturn]] void refuse(std::string_view entity, const std::string& problem,
                             const std::string& advice = {}) const {
        throw Error(where_, std::string(entity), problem, advice);
    }

private:
    double clock() const { return *description_.clock_hz; }
    const Level& chip() const { return description_.levels.front(); }

    [[noreturn]] void refuse_level(const Level& level, const std::string& problem) const {
        refuse("level." + level.name, problem);
    }

    void check_cores() const {
        const Level& cores = core();
        if (!cores.capacity_bytes || *cores.capacity_bytes > kMostSramBytes)
            refuse_level(cores, fmt::format("has no `capacity_bytes` of 1 to {}", kMostSramBytes));
        if (!cores.links || !cores.links->latency)
            refuse_level(cores, "has no `links` with a rate and a latency");
        if (cores.links->topology == Topology::kShared)
            refuse_level(cores, "has links that are shared, expected all-to-all or a grid");
        if (cores.count > kMostChipCores)
            refuse_level(cores,
                         fmt::format("has {} instances, expected 1 to {}", cores.count, kMostChipCores));
    }

    double per_cycle(const Level& level, const machine::Rate& rate) const {
        const double value = rate.per_cycle(clock());
        if (value > kMostPerCycle)
            refuse_level(level, fmt::format("has a rate of {} bytes a cycle, expected at most {}", value,
                                            kMostPerCycle));
        return value;
    }

    double cycles(const Level& level, const machine::Latency& latency) const {
        const double value = latency.cycles(clock());
        if (value > kMostCyclesOfLatency)
            refuse_level(level, fmt::format("has a latency of {} cycles, expected at most {}", value,
                                            kMostCyclesOfLatency));
        return value;
    }

    /// As many controllers as there are modules, each with the next ports.
    void add_controllers(const machine::Modules& modules, Chip& result) const {
        const std::vector<int64_t> ports =
            result.is_grid() ? machine::attached(modules, core().links->shape) : std::vector<int64_t>();
        const double bytes = per_cycle(chip(), modules.bytes);
        const double port = modules.port_bytes ? per_cycle(chip(), *modules.port_bytes)
                            : result.is_grid() ? result.link_bytes_per_cycle
                                               : bytes;
        const auto of_each = static_cast<ptrdiff_t>(ports.size() / static_cast<size_t>(modules.count));
        for (int64_t m = 0; m < modules.count; ++m) {
            const auto first = ports.begin() + static_cast<ptrdiff_t>(m) * of_each;
            result.hbm.push_back({.bytes_per_cycle = bytes,
                                  .port_bytes_per_cycle = port,
                                  .latency = cycles(chip(), modules.latency),
                                  .at = {first, first + of_each}});
        }
    }

    const Description& description_;
    const std::string& where_;
};

}  // namespace

double ChipDescription::hbm_bytes_per_cycle() const {
    double rate = 0;
    for (const HbmController& each : chip.hbm) rate += each.bytes_per_cycle;
    return rate;
}

double ChipDescription::hbm_latency() const {
    double latency = 0;
    for (const HbmController& each : chip.hbm) latency = std::max(latency, each.latency);
    return latency;
}

double ChipDescription::hbm_port_bytes_per_cycle() const {
    double rate = 0;
    for (const HbmController& each : chip.hbm)
        rate += each.port_bytes_per_cycle * static_cast<double>(std::max<size_t>(1, each.at.size()));
    return rate;
}

Chip simulated_chip(const Description& description, const std::string& where) {
    const ChipReader reader(description, where);
    if (const size_t axes = reader.core().links->shape.size(); axes > 2)
        reader.refuse("shape", fmt::format("has {} axes, and grids of one or two can be simulated", axes));
    return reader.read();
}

ChipDescription chip_description(const Description& description, const std::string& where) {
    const ChipReader reader(description, where);
    ChipDescription result{.chip = reader.read(),
                           .shape = reader.core().links->shape,
                           .reserved_bytes = reader.core().reserved_bytes,
                           .port_bytes_per_cycle = reader.port_bytes_per_cycle(),
                           .tile_overhead = description.tile_overhead_cycles,
                           .matrix = {},
                           .vector = {},
                           .pod = reader.pod(),
                           .energy = description.energy,
                           .tile_costs = description.tile_costs};
    if (result.chip.topology == Topology::kOneWayTorus)
        reader.refuse("topology", "is one-way torus, for which nothing is planned",
                      "`tessera chip simulate` has it");
    const machine::Unit* vector = reader.unit(machine::UnitKind::kVector);
    if (vector == nullptr || vector->special_operations == 0)
        reader.refuse("unit", "has no vector unit with `operations_per_cycle` and `special_operations`");
    result.vector = {reader.flops_per_cycle(*vector), vector->special_operations};
    if (const machine::Unit* matrix = reader.unit(machine::UnitKind::kMatrix)) {
        if (matrix->block[0] == 0) reader.refuse("unit." + matrix->name, "has no `block`");
        result.matrix = {reader.flops_per_cycle(*matrix), matrix->block};
        if (result.matrix->flops_per_cycle < result.vector.flops_per_cycle)
            reader.refuse("unit." + matrix->name,
                          fmt::format("does {} flops a cycle, fewer than the {} of the vector unit",
                                      result.matrix->flops_per_cycle, result.vector.flops_per_cycle),
                          "leave the matrix unit out: the vector unit computes everything then");
    }
    return result;
}

ChipDescription parse_chip_description(std::string_view toml, const std::string& where) {
    return chip_description(machine::parse_description(toml, where), where);
}

ChipDescription read_chip_table(const toml::table& table, const std::string& where) {
    return chip_description(machine::read_description_table(table, where), where);
}

ChipDescription read_chip_description(const std::filesystem::path& path) {
    return parse_chip_description(machine::read_toml_text(path, "chip"), path.string());
}

std::string chip_json(const Chip& chip) {
    nlohmann::ordered_json topology = {{"kind", "all-to-all"}};
    if (chip.is_grid())
        topology = {{"kind", machine::name(chip.topology)}, {"rows", chip.rows}, {"columns", chip.columns}};
    topology["link_bytes_per_cycle"] = chip.link_bytes_per_cycle;
    topology["latency"] = chip.latency;
    nlohmann::ordered_json hbm = nlohmann::ordered_json::array(), compute;
    for (const HbmController& each : chip.hbm) {
        hbm.push_back({{"bytes_per_cycle", each.bytes_per_cycle},
                       {"port_bytes_per_cycle", each.port_bytes_per_cycle},
                       {"latency", each.latency}});
        if (chip.is_grid()) hbm.back()["at"] = each.at;
    }
    for (const ComputeUnit& unit : chip.units) compute[unit.name] = unit.flops_per_cycle;
    return nlohmann::ordered_json{
        {"name", chip.name},         {"cores", chip.cores},  {"sram_bytes", chip.sram_bytes},
        {"clock_hz", chip.clock_hz}, {"topology", topology}, {"hbm", hbm},
        {"compute", compute}}
        .dump();
}

}  // namespace tessera::chip
