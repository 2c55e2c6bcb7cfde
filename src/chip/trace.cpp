#include "chip/trace.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "support/printable.h"

namespace tessera::chip {
namespace {

using Json = nlohmann::ordered_json;

std::vector<int64_t> sram_peaks(const Chip& chip, const Simulation& simulation) {
    using Change = std::tuple<double, bool, int64_t>;  // at one moment, what ends goes first
    std::vector<std::vector<Change>> changes(static_cast<size_t>(chip.cores));
    for (const SpaceRecord& space : simulation.spaces) {
        auto& of = changes[static_cast<size_t>(space.core)];
        of.emplace_back(space.at, true, space.bytes);
        of.emplace_back(space.free, false, -space.bytes);
    }
    std::vector<int64_t> peaks;
    for (auto& of : changes) {
        std::sort(of.begin(), of.end());
        int64_t held = 0, peak = 0;
        for (const Change& change : of) {
            held += std::get<2>(change);
            peak = std::max(peak, held);
        }
        peaks.push_back(peak);
    }
    return peaks;
}

double length_of(std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    double length = 0, until = 0;
    for (const Span& span : spans) {
        length += std::max(0.0, span.end - std::max(until, span.begin));
        until = std::max(until, span.end);
    }
    return length;
}

void add_breakdown(const Simulation& simulation, SimulationTotals& totals) {
    const double executing = length_of(simulation.executes), preloading = length_of(simulation.preloads);
    std::vector<Span> both = simulation.executes;
    both.insert(both.end(), simulation.preloads.begin(), simulation.preloads.end());
    totals.overlapped = executing + preloading - length_of(both);
    totals.execute_only = executing - totals.overlapped;
    totals.preload_only = preloading - totals.overlapped;
    std::vector<Span> computing;
    for (const TileRecord& tile : simulation.tiles) computing.push_back({tile.start, tile.end});
    totals.stalled = executing - length_of(std::move(computing));
}

Json links_json(const Network& network, const SimulationTotals& totals) {
    Json json = Json::object();
    for (size_t l = 0; l < totals.link_bytes.size(); ++l)
        if (totals.link_bytes[l] > 0) json[network.name(static_cast<int32_t>(l))] = totals.link_bytes[l];
    return json;
}

Json packet_json(const Network& network, const PacketRecord& packet) {
    Json json = {{"op", packet.op}, {"kind", name(packet.kind)}};
    if (packet.kind == TransferKind::kShift || packet.kind == TransferKind::kReduce)
        json["step"] = packet.step;
    const auto controller = [](int32_t h) { return fmt::format("h{}", h); };
    json["from"] = packet.kind == TransferKind::kPreload ? Json(controller(packet.from)) : Json(packet.from);
    json["to"] =
        packet.kind == TransferKind::kStore ? Json::array({controller(packet.to.front())}) : Json(packet.to);
    json["bytes"] = packet.bytes;
    Json links = Json::array();
    for (const HeldLink& held : packet.links)
        links.push_back(Json::array({network.name(held.link), held.begin, held.until}));
    json["links"] = std::move(links);
    json["start"] = packet.start;
    json["end"] = packet.end;
    return json;
}

Json tile_json(const Chip& chip, const TileRecord& record) {
    return {{"op", record.op},
            {"kind", "compute"},
            {"step", record.tile.step},
            {"core", record.tile.core},
            {"unit", chip.units[record.tile.unit].name},
            {"flops", record.tile.flops},
            {"start", record.start},
            {"end", record.end}};
}

Json space_json(const SpaceRecord& space) {
    return {{"op", space.op},       {"core", space.core}, {"state", space.is_execute ? "execute" : "preload"},
            {"bytes", space.bytes}, {"at", space.at},     {"free", space.free}};
}

std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

SimulationTotals totals_of(const Chip& chip, const Network& network, const Simulation& simulation) {
    SimulationTotals totals;
    totals.link_bytes.assign(network.links().size(), 0);
    std::vector<double> moved(chip.hbm.size(), 0), busy(static_cast<size_t>(chip.cores), 0);
    for (const PacketRecord& packet : simulation.packets) {
        totals.total = std::max(totals.total, packet.end);
        for (const HeldLink& held : packet.links)
            totals.link_bytes[static_cast<size_t>(held.link)] += packet.bytes;
        if (packet.kind == TransferKind::kPreload) {
            moved[static_cast<size_t>(packet.from)] += static_cast<double>(packet.bytes);
            totals.hbm_read_bytes += packet.bytes;
            totals.preloaded_bytes += packet.bytes * static_cast<int64_t>(packet.to.size());
        }
        if (packet.kind == TransferKind::kStore) {
            moved[static_cast<size_t>(packet.to.front())] += static_cast<double>(packet.bytes);
            totals.hbm_written_bytes += packet.bytes;
        }
    }
    for (const TileRecord& record : simulation.tiles) {
        totals.total = std::max(totals.total, record.end);
        busy[static_cast<size_t>(record.tile.core)] += record.end - record.start;
    }
    const auto part = [&](double cycles) { return totals.total > 0 ? cycles / totals.total : 0; };
    for (size_t h = 0; h < chip.hbm.size(); ++h)
        totals.hbm_utilisation.push_back(part(moved[h] / chip.hbm[h].bytes_per_cycle));
    double link_cycles = 0;
    for (size_t l = 0; l < network.links().size(); ++l)
        link_cycles += static_cast<double>(totals.link_bytes[l]) / network.links()[l].bytes_per_cycle;
    if (!network.links().empty())
        totals.link_utilisation = part(link_cycles / static_cast<double>(network.links().size()));
    for (const double cycles : busy) totals.compute_utilisation.push_back(part(cycles));
    totals.sram_peak = sram_peaks(chip, simulation);
    add_breakdown(simulation, totals);
    return totals;
}

std::string trace_text(const Chip& chip, const Network& network, const DeviceProgram& program,
                       std::string_view chip_json, const Simulation& simulation) {
    // The chip as it is written, on one line: a text of JSON holds no line break.
    std::string chip_line(chip_json);
    std::replace_if(
        chip_line.begin(), chip_line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    std::string text =
        "{\"format\": \"tessera trace 1\", \"program\": " + Json(valid_utf8(program.name)).dump() +
        ", \"chip\": " + chip_line + "}\n";
    std::vector<std::pair<double, std::string>> lines;
    for (const PacketRecord& packet : simulation.packets)
        lines.emplace_back(packet.start, line_of(packet_json(network, packet)));
    for (const TileRecord& tile : simulation.tiles)
        lines.emplace_back(tile.start, line_of(tile_json(chip, tile)));
    for (const SpaceRecord& space : simulation.spaces)
        lines.emplace_back(space.at, line_of(space_json(space)));
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [begin, line] : lines) text += line;
    const SimulationTotals totals = totals_of(chip, network, simulation);
    return text + line_of({{"total", totals.total},
                           {"hbm_read_bytes", totals.hbm_read_bytes},
                           {"preloaded_bytes", totals.preloaded_bytes},
                           {"hbm_written_bytes", totals.hbm_written_bytes},
                           {"link_bytes", links_json(network, totals)},
                           {"hbm_utilisation", totals.hbm_utilisation},
                           {"link_utilisation", totals.link_utilisation},
                           {"compute_utilisation", totals.compute_utilisation},
                           {"sram_peak", totals.sram_peak}});
}

std::string chrome_trace_text(const Network& network, const DeviceProgram& program,
                              const Simulation& simulation) {
    Json events = Json::array();
    enum Process : int { kPrograms, kCores, kLinks };
    const auto add = [&](Process process, size_t row, const std::string& what, double begin, double end) {
        events.push_back({{"name", what},
                          {"ph", "X"},
                          {"pid", process},
                          {"tid", row},
                          {"ts", begin},
                          {"dur", end - begin}});
    };
    const auto label = [&](Process process, const std::string& what) {
        events.push_back(
            {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", what}}}});
    };
    label(kPrograms, "preloads and executes");
    label(kCores, "cores");
    label(kLinks, "links");
    for (size_t i = 0; i < program.size(); ++i) {
        const std::string& name = program.at(i).name;
        add(kPrograms, 0, fmt::format("preload {} {}", i, valid_utf8(name)), simulation.preloads[i].begin,
            simulation.preloads[i].end);
        add(kPrograms, 1, fmt::format("execute {} {}", i, valid_utf8(name)), simulation.executes[i].begin,
            simulation.executes[i].end);
    }
    for (const TileRecord& record : simulation.tiles)
        add(kCores, static_cast<size_t>(record.tile.core),
            fmt::format("operator {}, step {}", record.op, record.tile.step), record.start, record.end);
    for (const PacketRecord& packet : simulation.packets)
        for (const HeldLink& held : packet.links)
            add(kLinks, static_cast<size_t>(held.link),
                fmt::format("{}: {} {}", network.name(held.link), name(packet.kind), packet.op), held.begin,
                held.until);
    return Json{{"traceEvents", std::move(events)}}.dump(-1, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

}  // namespace tessera::chip
