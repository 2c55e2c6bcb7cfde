#include "chip/read_chip_toml.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/toml_fields.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::chip {
namespace {

using machine::TomlFields;

constexpr int64_t kMostChipCores = 65'536;
constexpr int64_t kMostSramBytes = int64_t{1} << 40;
constexpr int64_t kMostBlock = 1 << 16;
constexpr int64_t kMostChips = 65'536;
constexpr int64_t kMostModules = 4096;
constexpr double kMostPerSecond = 1e18;
constexpr double kLeastPerSecond = 1;
constexpr double kMostPerCycle = 1e9;
constexpr double kMostCyclesOfLatency = 1e9;
constexpr double kMostPicojoules = 1e9;
constexpr size_t kMostAxes = 8;

/// A rate that the file gives for a second, for a cycle.
double per_cycle(TomlFields& fields, std::string_view key, double clock_hz) {
    return fields.real(key, kLeastPerSecond, kMostPerSecond) / clock_hz;
}

double flops_of(TomlFields& fields) {
    return fields.real("flops_per_cycle", 1e-3, kMostPerCycle);
}

void read_sram(TomlFields fields, ChipDescription& description) {
    const int64_t bytes = fields.integer("bytes", 1, kMostSramBytes);
    description.reserved_bytes =
        fields.has("reserved_bytes") ? fields.integer("reserved_bytes", 0, kMostSramBytes) : 0;
    if (description.reserved_bytes >= bytes)
        fields.refuse("reserved_bytes", fmt::format("is {}, expected less than the {} bytes that a core has",
                                                    description.reserved_bytes, bytes));
    description.chip.sram_bytes = bytes - description.reserved_bytes;
    description.port_bytes_per_cycle = fields.real("port_bytes_per_cycle", 1e-3, kMostPerCycle);
    fields.finish();
}

void read_units(TomlFields& file, ChipDescription& description) {
    if (file.has("matrix")) {
        TomlFields fields = file.table("matrix");
        MatrixUnit unit{.flops_per_cycle = flops_of(fields)};
        const std::vector<int64_t> block = fields.integers("block", 1, kMostBlock);
        if (block.size() != unit.block.size())
            fields.refuse("block",
                          fmt::format("has {} numbers, expected three: rows, columns and summed elements",
                                      block.size()));
        std::copy(block.begin(), block.end(), unit.block.begin());
        fields.finish();
        description.matrix = unit;
    }
    TomlFields fields = file.table("vector");
    description.vector.flops_per_cycle = flops_of(fields);
    description.vector.special_flops = fields.real("special_flops", 1, kMostPerCycle);
    fields.finish();
    if (description.matrix && description.matrix->flops_per_cycle < description.vector.flops_per_cycle)
        file.refuse("matrix",
                    fmt::format("does {} flops a cycle, fewer than the {} of the vector unit",
                                description.matrix->flops_per_cycle, description.vector.flops_per_cycle),
                    "leave the matrix unit out: the vector unit computes everything then");
}

void read_network(TomlFields fields, ChipDescription& description) {
    Chip& chip = description.chip;
    const std::string kind = fields.text("topology");
    if (kind != "all-to-all" && kind != "mesh" && kind != "torus")
        fields.refuse("topology", fmt::format("is {}, expected all-to-all, mesh or torus", kind));
    chip.topology = kind == "mesh"    ? Topology::kMesh
                    : kind == "torus" ? Topology::kTorus
                                      : Topology::kAllToAll;
    chip.link_bytes_per_cycle = per_cycle(fields, "link_bytes_per_second", chip.clock_hz);
    chip.latency = fields.real("latency_cycles", 0, kMostCyclesOfLatency);
    if (chip.is_grid()) {
        description.shape = fields.integers("shape", 1, kMostChipCores);
        if (description.shape.empty() || description.shape.size() > kMostAxes)
            fields.refuse("shape",
                          fmt::format("has {} axes, expected 1 to {}", description.shape.size(), kMostAxes));
        int64_t product = 1;
        for (const int64_t extent : description.shape)
            product = std::min(product * extent, 2 * kMostChipCores);
        if (product != chip.cores)
            fields.refuse("shape", fmt::format("is {}, which are not {} cores",
                                               fmt::join(description.shape, " x "), chip.cores));
        chip.rows = description.shape.size() == 1 ? 1 : static_cast<int32_t>(description.shape[0]);
        chip.columns = static_cast<int32_t>(description.shape.back());
    } else if (fields.has("shape")) {
        fields.refuse("shape", "is set, and an all-to-all network has none",
                      "say topology = \"mesh\", or leave it out");
    }
    fields.finish();
}

/// Cores on an edge of a grid of two axes, from its first end on.
std::vector<int32_t> edge_cores(TomlFields& fields, const Chip& chip, const std::vector<int64_t>& shape) {
    const std::string edge = fields.text("edge");
    const bool is_side = edge == "left" || edge == "right", is_end = edge == "top" || edge == "bottom";
    if (!is_side && !is_end)
        fields.refuse("edge", fmt::format("is {}, expected left, right, top or bottom", edge));
    if (shape.size() != 2)
        fields.refuse("edge", fmt::format("is set, and a grid of {} axes has no such edge", shape.size()),
                      "name the cores with `at`");
    std::vector<int32_t> cores;
    for (int32_t i = 0; i < (is_side ? chip.rows : chip.columns); ++i) {
        if (is_side)
            cores.push_back(i * chip.columns + (edge == "left" ? 0 : chip.columns - 1));
        else
            cores.push_back(i + (edge == "top" ? 0 : (chip.rows - 1) * chip.columns));
    }
    return cores;
}

std::vector<int32_t> attached_cores(TomlFields& fields, const ChipDescription& description) {
    if (fields.has("edge")) {
        if (fields.has("at")) fields.refuse("at", "is set, and so is `edge`", "leave one of them out");
        return edge_cores(fields, description.chip, description.shape);
    }
    std::vector<int32_t> cores;
    for (const int64_t core : fields.integers("at", 0, description.chip.cores - 1)) {
        if (std::find(cores.begin(), cores.end(), core) != cores.end())
            fields.refuse("at", fmt::format("names core {} twice", core));
        cores.push_back(static_cast<int32_t>(core));
    }
    if (cores.empty()) fields.refuse("at", "is [], expected the cores that the modules are attached to");
    return cores;
}

void read_hbm(TomlFields fields, ChipDescription& description) {
    Chip& chip = description.chip;
    const int64_t modules = fields.has("modules") ? fields.integer("modules", 1, kMostModules) : 1;
    HbmController controller{.bytes_per_cycle = per_cycle(fields, "bytes_per_second", chip.clock_hz),
                             .port_bytes_per_cycle = 0,
                             .latency = fields.real("latency_cycles", 0, kMostCyclesOfLatency)};
    std::vector<int32_t> cores;
    if (chip.is_grid()) {
        cores = attached_cores(fields, description);
        if (cores.size() % static_cast<size_t>(modules) != 0)
            fields.refuse("modules", fmt::format("is {}, and {} cores cannot be divided among them", modules,
                                                 cores.size()));
    } else {
        for (const char* key : {"at", "edge"})
            if (fields.has(key))
                fields.refuse(key, "is set, and every core of an all-to-all network is as near",
                              "leave it out");
    }
    const size_t ports = chip.is_grid() ? cores.size() / static_cast<size_t>(modules) : 1;
    const bool has_rate = fields.has("port_bytes_per_second");
    controller.port_bytes_per_cycle = has_rate ? per_cycle(fields, "port_bytes_per_second", chip.clock_hz)
                                      : chip.is_grid() ? chip.link_bytes_per_cycle
                                                       : controller.bytes_per_cycle;
    const double all_ports = static_cast<double>(ports) * controller.port_bytes_per_cycle;
    if (all_ports < controller.bytes_per_cycle * (1 - 1e-9))
        fields.refuse(
            has_rate ? "port_bytes_per_second" : "bytes_per_second",
            fmt::format("gives a module {:.4g} B/s through {} ports that carry {:.4g} B/s together",
                        controller.bytes_per_cycle * chip.clock_hz, ports, all_ports * chip.clock_hz),
            "attach it to more cores, or make its ports faster");
    fields.finish();
    for (int64_t m = 0; m < modules; ++m) {
        const auto first = cores.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(m) * ports);
        if (chip.is_grid()) controller.at.assign(first, first + static_cast<ptrdiff_t>(ports));
        chip.hbm.push_back(controller);
    }
    if (chip.hbm.size() > static_cast<size_t>(kMostModules))
        fields.refuse("modules", fmt::format("makes more than {} modules in all", kMostModules));
}

Pod pod_of(TomlFields fields, double clock_hz) {
    Pod pod{.chips = fields.integer("chips", 1, kMostChips)};
    if (pod.chips == 1) {
        for (const char* key : {"bytes_per_second", "latency_cycles"})
            if (fields.has(key))
                fields.refuse(key, "is set, and one chip has no other to talk to", "leave it out");
    } else {
        pod.bytes_per_cycle = per_cycle(fields, "bytes_per_second", clock_hz);
        pod.latency = fields.real("latency_cycles", 0, kMostCyclesOfLatency);
    }
    fields.finish();
    return pod;
}

Energy energy_of(TomlFields fields) {
    const auto picojoules = [&](std::string_view key) { return fields.real(key, 0, kMostPicojoules); };
    const Energy energy{.matrix_flop = picojoules("matrix_flop"),
                        .vector_flop = picojoules("vector_flop"),
                        .sram_byte = picojoules("sram_byte"),
                        .link_byte = picojoules("link_byte"),
                        .hbm_byte = picojoules("hbm_byte"),
                        .chip_byte = picojoules("chip_byte")};
    fields.finish();
    return energy;
}

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

ChipDescription parse_chip_description(std::string_view toml, const std::string& where) {
    return read_chip_table(machine::TomlDocument(toml, where).table(), where);
}

ChipDescription read_chip_table(const toml::table& table, const std::string& where) {
    TomlFields file(table, where);
    ChipDescription description;
    Chip& chip = description.chip;
    chip.name = file.text("name");
    chip.cores = static_cast<int32_t>(file.integer("cores", 1, kMostChipCores));
    chip.clock_hz = file.real("clock_hz", 1, 1e12);
    description.tile_overhead =
        file.has("tile_overhead_cycles") ? file.real("tile_overhead_cycles", 0, 1e9) : 0;
    read_sram(file.table("sram"), description);
    read_units(file, description);
    read_network(file.table("network"), description);
    for (TomlFields& each : file.tables("hbm")) read_hbm(each, description);
    if (file.has("pod")) description.pod = pod_of(file.table("pod"), chip.clock_hz);
    if (file.has("energy")) description.energy = energy_of(file.table("energy"));
    file.finish();
    if (description.matrix) chip.units.push_back({"matrix", description.matrix->flops_per_cycle});
    chip.units.push_back({"vector", description.vector.flops_per_cycle});
    return description;
}

ChipDescription read_chip_description(const std::filesystem::path& path) {
    return parse_chip_description(machine::read_toml_text(path, "chip"), path.string());
}

std::string chip_json(const ChipDescription& description, const std::string& where) {
    const Chip& chip = description.chip;
    if (description.shape.size() > 2)
        throw Error(
            where, "shape",
            fmt::format("has {} axes, and grids of one or two can be simulated", description.shape.size()));
    nlohmann::ordered_json topology = {{"kind", "all-to-all"}};
    if (chip.is_grid())
        topology = {{"kind", chip.topology == Topology::kMesh ? "mesh" : "torus"},
                    {"rows", chip.rows},
                    {"columns", chip.columns}};
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
