#include "chip/read_chip.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/core.h>

#include "support/error.h"
#include "support/json.h"
#include "support/shown.h"

namespace tessera::chip {
namespace {

constexpr int32_t kMostCores = 65'536;
constexpr int64_t kMostCoreBytes = int64_t{1} << 45;
constexpr double kMostRate = 1e15;

/// A rate: a finite number above 0.
double rate_at(const JsonCursor& of, std::string_view key) {
    const JsonCursor at = of.at(key);
    const double rate = at.real(0, kMostRate);
    if (rate <= 0) at.fail(fmt::format("is {}, expected a rate above 0", at.shown()));
    return rate;
}

double latency_at(const JsonCursor& of) {
    return of.at("latency").real(0, kMostRate);
}

void read_topology(const JsonCursor& at, Chip& chip) {
    const JsonCursor kind = at.at("kind");
    const std::string name = kind.string();
    chip.link_bytes_per_cycle = rate_at(at, "link_bytes_per_cycle");
    chip.latency = latency_at(at);
    if (name == "all-to-all") return;
    if (name == "mesh")
        chip.topology = Topology::kMesh;
    else if (name == "torus")
        chip.topology = Topology::kTorus;
    else if (name == "one-way torus")
        chip.topology = Topology::kOneWayTorus;
    else
        kind.fail(fmt::format("is \"{}\", expected \"all-to-all\", \"mesh\", \"torus\" or \"one-way torus\"",
                              shown(name)));
    chip.rows = static_cast<int32_t>(at.at("rows").integer(1, kMostCores));
    chip.columns = static_cast<int32_t>(at.at("columns").integer(1, kMostCores));
    if (int64_t{chip.rows} * chip.columns != chip.cores)
        at.fail(fmt::format("has {} rows of {} columns, which are not {} cores", chip.rows, chip.columns,
                            chip.cores));
}

HbmController controller_of(const JsonCursor& at, const Chip& chip) {
    HbmController result{.bytes_per_cycle = rate_at(at, "bytes_per_cycle"),
                         .port_bytes_per_cycle = rate_at(at, "port_bytes_per_cycle"),
                         .latency = latency_at(at)};
    if (!chip.is_grid()) return result;
    std::set<int32_t> seen;
    for (const JsonCursor& item : at.at("at").items()) {
        const auto core = static_cast<int32_t>(
            item.integer(0, chip.cores - 1, fmt::format("a core, 0 to {}", chip.cores - 1)));
        if (!seen.insert(core).second) item.fail(fmt::format("is {}, which is there twice", core));
        result.at.push_back(core);
    }
    if (result.at.empty()) at.at("at").fail("is [], expected the cores that it is attached to");
    return result;
}

}  // namespace

Chip read_chip(std::string_view json, const std::string& where) {
    const JsonCursor file = parse_json(json, where, {});
    if (!file.is_object()) file.fail_expected("an object");
    Chip chip;
    chip.name = file.string_or("name", "");
    chip.cores = static_cast<int32_t>(file.at("cores").integer(1, kMostCores));
    chip.sram_bytes = file.at("sram_bytes").integer(1, kMostCoreBytes);
    chip.clock_hz = rate_at(file, "clock_hz");
    read_topology(file.at("topology"), chip);
    for (const JsonCursor& item : file.at("hbm").items()) chip.hbm.push_back(controller_of(item, chip));
    const JsonCursor units = file.at("compute");
    if (!units.is_object()) units.fail_expected("an object: flops a cycle of each unit");
    for (const std::string& name : units.keys()) chip.units.push_back({name, rate_at(units, name)});
    return chip;
}

}  // namespace tessera::chip
