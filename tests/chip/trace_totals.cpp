#include "chip/trace_totals.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::chip {
namespace {

using Json = nlohmann::json;

void add_fault(std::vector<TraceFault>& faults, const std::string& rule, const Json& where) {
    faults.push_back({rule, where.dump().substr(0, 200)});
}

}  // namespace

std::vector<TraceFault> check_work(const Json& program, const std::vector<Json>& packets,
                                   const std::vector<Json>& tiles) {
    std::vector<TraceFault> faults;
    using Key = std::tuple<size_t, std::string, int64_t, int, std::string>;
    std::map<Key, int64_t> work;
    const auto add = [&](const Json& of, size_t op, const std::string& kind, int64_t sign) {
        const int64_t step =
            kind == "shift" || kind == "reduce" || kind == "compute" ? of["step"].get<int64_t>() : 0;
        if (kind == "compute") {
            work[{op, kind, step, of["core"], of["unit"]}] += sign * of["flops"].get<int64_t>();
            return;
        }
        for (const Json& target : of["to"])
            work[{op, kind, step, kind == "preload" ? -1 : of["from"].get<int>(),
                  kind == "store" ? "" : target.dump()}] += sign * of["bytes"].get<int64_t>();
    };
    for (size_t op = 0; op < program["operators"].size(); ++op)
        for (const char* kind : {"preload", "distribute", "shift", "reduce", "store", "compute"})
            for (const Json& of : program["operators"][op].value(kind, Json::array())) add(of, op, kind, 1);
    for (const Json& packet : packets) add(packet, packet["op"], packet["kind"], -1);
    for (const Json& tile : tiles) add(tile, tile["op"], "compute", -1);
    for (const auto& [key, left] : work)
        if (left != 0)
            add_fault(faults, "work", Json({std::get<0>(key), std::get<1>(key), std::get<2>(key), left}));
    return faults;
}

std::vector<TraceFault> check_trailer(const Json& trailer, const Json& chip,
                                      const std::map<std::string, double>& rate,
                                      const std::vector<Json>& packets, const std::vector<Json>& tiles,
                                      const std::vector<double>& peaks) {
    std::vector<TraceFault> faults;
    double total = 0, read = 0, written = 0, delivered = 0, link_cycles = 0;
    std::map<std::string, double> links;
    std::vector<double> moved(chip["hbm"].size(), 0), busy(peaks.size(), 0);
    for (const Json& packet : packets) {
        const double bytes = packet["bytes"];
        total = std::max(total, packet["end"].get<double>());
        for (const Json& held : packet["links"]) links[held[0]] += bytes;
        const bool is_read = packet["kind"] == "preload", is_write = packet["kind"] == "store";
        if (is_read || is_write)
            moved[std::stoul((is_read ? packet["from"] : packet["to"][0]).get<std::string>().substr(1))] +=
                bytes;
        read += is_read ? bytes : 0;
        written += is_write ? bytes : 0;
        delivered += is_read ? bytes * static_cast<double>(packet["to"].size()) : 0;
    }
    for (const Json& tile : tiles) {
        total = std::max(total, tile["end"].get<double>());
        busy[tile["core"].get<size_t>()] += tile["end"].get<double>() - tile["start"].get<double>();
    }
    const auto expect = [&](const Json& said, double value) {
        if (!said.is_number() || std::abs(said.get<double>() - value) > 1e-6 * std::max(1.0, std::abs(value)))
            add_fault(faults, "trailer", Json({said, value}));
    };
    expect(trailer["total"], total);
    expect(trailer["hbm_read_bytes"], read);
    expect(trailer["hbm_written_bytes"], written);
    expect(trailer["preloaded_bytes"], delivered);
    for (const auto& [name, bytes] : links) {
        expect(trailer["link_bytes"].value(name, 0), bytes);
        link_cycles += bytes / rate.at(name);
    }
    if (trailer["link_bytes"].size() != links.size()) add_fault(faults, "trailer", trailer["link_bytes"]);
    expect(trailer["link_utilisation"], link_cycles / static_cast<double>(rate.size()) / total);
    for (size_t h = 0; h < moved.size(); ++h)
        expect(trailer["hbm_utilisation"][h],
               moved[h] / chip["hbm"][h]["bytes_per_cycle"].get<double>() / total);
    for (size_t c = 0; c < busy.size(); ++c) {
        expect(trailer["compute_utilisation"][c], busy[c] / total);
        expect(trailer["sram_peak"][c], peaks[c]);
    }
    return faults;
}

}  // namespace tessera::chip
