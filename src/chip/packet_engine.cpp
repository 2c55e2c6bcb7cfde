#include "chip/packet_engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "support/error.h"

namespace tessera::chip {
namespace {

/// A controller that has less than this part of what a port can take lets it wait.
constexpr double kLeastPart = 0.25;
constexpr int64_t kLeastPartBytes = 256;

}  // namespace

PacketEngine::PacketEngine(const Chip& chip, const Network& network, EventQueue& queue,
                           std::vector<PacketRecord>& packets, bool keeps_packets)
    : chip_(chip),
      network_(network),
      queue_(queue),
      packets_(packets),
      keeps_packets_(keeps_packets),
      link_free_(network.links().size(), 0) {
    controllers_.resize(chip.hbm.size());
    for (size_t h = 0; h < chip.hbm.size(); ++h)
        controllers_[h].port_bytes.assign(network.doors(static_cast<int32_t>(h)), 0);
    for (size_t l = 0; l < network.links().size(); ++l) {
        if (network.links()[l].controller < 0) continue;
        Controller& controller = controllers_[static_cast<size_t>(network.links()[l].controller)];
        if (controller.waiting.empty()) controller.first_link = static_cast<int32_t>(l);
        controller.waiting.emplace_back();
    }
}

int64_t PacketEngine::parts(const Transfer& preload, size_t transfers) const {
    size_t ports = 0;
    for (const Controller& controller : controllers_) ports += controller.port_bytes.size();
    if (ports <= 1 && transfers <= 1) return 1;
    return std::clamp<int64_t>(preload.bytes / kLeastPartBytes, 1, kMostParts);
}

PacketEngine::Port PacketEngine::choose_port(const PacketRecord& packet) const {
    Port best;
    double soonest = std::numeric_limits<double>::infinity();
    for (size_t h = 0; h < controllers_.size(); ++h)
        for (size_t d = 0; d < controllers_[h].port_bytes.size(); ++d) {
            const HbmController& hbm = chip_.hbm[h];
            const auto bytes = static_cast<double>(packet.bytes);
            double time = std::max((controllers_[h].port_bytes[d] + bytes) / hbm.port_bytes_per_cycle,
                                   (controllers_[h].bytes + bytes) / hbm.bytes_per_cycle);
            if (chip_.is_grid()) {
                const int32_t core = packet.kind == TransferKind::kStore ? packet.from : packet.to.front();
                time +=
                    chip_.latency * network_.distance(core, network_.door_core(static_cast<int32_t>(h), d));
            }
            time += hbm.latency;
            if (time >= soonest) continue;
            soonest = time;
            best = {static_cast<int32_t>(h), d};
        }
    return best;
}

int32_t PacketEngine::place_of_next() {
    if (free_.empty()) {
        packets_.emplace_back();
        flights_.emplace_back();
        return static_cast<int32_t>(packets_.size()) - 1;
    }
    const int32_t place = free_.back();
    free_.pop_back();
    return place;
}

void PacketEngine::join_hops(Flight& flight) {
    flight.first_after.assign(flight.route.size(), -1);
    flight.next_beside.assign(flight.route.size(), -1);
    for (size_t hop = flight.route.size(); hop-- > 0;)
        if (const int32_t parent = flight.route[hop].parent; parent >= 0)
            flight.next_beside[hop] =
                std::exchange(flight.first_after[static_cast<size_t>(parent)], static_cast<int32_t>(hop));
}

int32_t PacketEngine::send(PacketRecord packet, double now, std::optional<Port> wanted) {
    const int32_t index = place_of_next();
    Flight& flight = flights_[static_cast<size_t>(index)];
    flight.asked = 0;
    flight.arrival = 0;
    flight.controller = -1;
    double first = now;
    if (packet.kind == TransferKind::kPreload || packet.kind == TransferKind::kStore) {
        const Port port = wanted ? *wanted : choose_port(packet);
        flight.controller = port.controller;
        flight.door = port.door;
        Controller& controller = controllers_[static_cast<size_t>(port.controller)];
        controller.bytes += static_cast<double>(packet.bytes);
        controller.port_bytes[port.door] += static_cast<double>(packet.bytes);
        if (packet.kind == TransferKind::kPreload) {
            packet.from = port.controller;
            flight.route = network_.from_controller(port.controller, port.door, packet.to);
            first += chip_.hbm[static_cast<size_t>(port.controller)].latency;
        } else {
            packet.to = {port.controller};
            flight.route = network_.to_controller(packet.from, port.controller, port.door);
        }
    } else {
        flight.route = network_.between(packet.from, packet.to);
    }
    packet.start = now;
    if (keeps_packets_) packet.links.resize(flight.route.size());
    flight.is_chain = true;
    for (size_t hop = 0; hop < flight.route.size(); ++hop)
        flight.is_chain = flight.is_chain && flight.route[hop].parent == static_cast<int32_t>(hop) - 1;
    if (!flight.is_chain) join_hops(flight);
    if (!keeps_packets_) packet.to = {};
    for (size_t hop = 0; hop < flight.route.size(); ++hop)
        if (flight.route[hop].parent < 0)
            queue_.push(first, EventKind::kHop, index, static_cast<int32_t>(hop));
    packets_[static_cast<size_t>(index)] = std::move(packet);
    return index;
}

void PacketEngine::ask(int32_t packet, int32_t hop, double now) {
    const int32_t index = flights_[static_cast<size_t>(packet)].route[static_cast<size_t>(hop)].link;
    const Link& link = network_.links()[static_cast<size_t>(index)];
    if (link.controller >= 0) {
        Controller& controller = controllers_[static_cast<size_t>(link.controller)];
        controller.waiting[static_cast<size_t>(index - controller.first_link)].push_back(
            {asked_++, packet, hop});
        release(link.controller, now);
        return;
    }
    const auto bytes = static_cast<double>(packets_[static_cast<size_t>(packet)].bytes);
    hold(packet, hop, std::max(now, link_free_[static_cast<size_t>(index)]), bytes / link.bytes_per_cycle);
}

void PacketEngine::release(int32_t controller, double now) {
    Controller& of = controllers_[static_cast<size_t>(controller)];
    const HbmController& hbm = chip_.hbm[static_cast<size_t>(controller)];
    const double port_rate = std::min(hbm.port_bytes_per_cycle, hbm.bytes_per_cycle);
    std::erase_if(of.active, [&](const Active& active) { return active.until <= now; });
    double available = hbm.bytes_per_cycle;
    for (const Active& active : of.active) available -= active.rate;
    while (available >= kLeastPart * port_rate) {
        size_t best = of.waiting.size();
        for (size_t p = 0; p < of.waiting.size(); ++p) {
            const bool is_free = link_free_[static_cast<size_t>(of.first_link) + p] <= now;
            if (!is_free || of.waiting[p].empty()) continue;
            if (best == of.waiting.size() || of.waiting[p].front().number < of.waiting[best].front().number)
                best = p;
        }
        if (best == of.waiting.size()) return;
        const Asking next = of.waiting[best].front();
        of.waiting[best].pop_front();
        const double rate = std::min(port_rate, available);
        hold(next.packet, next.hop, now,
             static_cast<double>(packets_[static_cast<size_t>(next.packet)].bytes) / rate);
        const double until = link_free_[static_cast<size_t>(of.first_link) + best];
        of.active.push_back({until, rate});
        available -= rate;
        queue_.push(until, EventKind::kRelease, controller);
    }
}

void PacketEngine::hold(int32_t packet, int32_t hop, double begin, double cycles) {
    Flight& flight = flights_[static_cast<size_t>(packet)];
    PacketRecord& record = packets_[static_cast<size_t>(packet)];
    const int32_t index = flight.route[static_cast<size_t>(hop)].link;
    const double until = begin + cycles;
    link_free_[static_cast<size_t>(index)] = until;
    if (keeps_packets_) record.links[static_cast<size_t>(hop)] = {index, begin, until};
    flight.arrival = std::max(flight.arrival, until + chip_.latency);
    for (int32_t next = flight.first_next(hop); next >= 0; next = flight.next_of_parent(next)) {
        const Link& link =
            network_.links()[static_cast<size_t>(flight.route[static_cast<size_t>(next)].link)];
        const double through = static_cast<double>(record.bytes) / link.bytes_per_cycle;
        const double asked = std::max(begin + chip_.latency, until + chip_.latency - through);
        queue_.push(asked, EventKind::kHop, packet, next);
    }
    if (++flight.asked < flight.route.size()) return;
    record.end = flight.arrival;
    if (record.kind == TransferKind::kStore)
        record.end += chip_.hbm[static_cast<size_t>(flight.controller)].latency;
    queue_.push(record.end, EventKind::kPacketEnd, packet);
}

void PacketEngine::arrive(int32_t packet) {
    Flight& flight = flights_[static_cast<size_t>(packet)];
    // The way of a packet takes more memory than its record.
    flight.route = {};
    flight.first_after = {};
    flight.next_beside = {};
    if (flight.controller < 0) return;
    Controller& controller = controllers_[static_cast<size_t>(flight.controller)];
    controller.bytes -= static_cast<double>(packets_[static_cast<size_t>(packet)].bytes);
    controller.port_bytes[flight.door] -= static_cast<double>(packets_[static_cast<size_t>(packet)].bytes);
}

void PacketEngine::forget(int32_t packet) {
    if (!keeps_packets_) free_.push_back(packet);
}

}  // namespace tessera::chip
