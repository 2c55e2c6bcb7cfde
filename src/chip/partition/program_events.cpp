#include "chip/partition/program_events.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::partition {

std::vector<ProgramEvent> events_of(const chip::Simulation& simulation) {
    using Kind = ProgramEvent::Kind;
    std::vector<ProgramEvent> events;
    struct Time {
        double sent, arrived;
    };
    std::map<std::tuple<size_t, chip::TransferKind, size_t>, Time> transfers;
    for (const chip::PacketRecord& packet : simulation.packets) {
        const auto [found, is_new] = transfers.emplace(std::tuple(packet.op, packet.kind, packet.item),
                                                       Time{packet.start, packet.end});
        found->second.sent = std::min(found->second.sent, packet.start);
        found->second.arrived = std::max(found->second.arrived, packet.end);
    }
    for (const auto& [which, time] : transfers) {
        const auto& [op, kind, item] = which;
        events.push_back({time.sent, Kind::kSend, kind, op, item});
        events.push_back({time.arrived, Kind::kArrival, kind, op, item});
    }
    for (const chip::TileRecord& tile : simulation.tiles) {
        events.push_back({tile.start, Kind::kTileBegin, {}, tile.op, tile.item});
        events.push_back({tile.end, Kind::kTileEnd, {}, tile.op, tile.item});
    }
    for (size_t i = 0; i < simulation.executes.size(); ++i)
        events.push_back({simulation.executes[i].end, Kind::kExecuteEnd, {}, i, 0});
    std::stable_sort(events.begin(), events.end(), [](const ProgramEvent& a, const ProgramEvent& b) {
        return std::tie(a.time, a.kind) < std::tie(b.time, b.kind);
    });
    return events;
}

}  // namespace tessera::partition
