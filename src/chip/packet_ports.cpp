// The ports of the HBM, and how a controller shares its rate between them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "chip/packet_engine.h"

namespace tessera::chip {
namespace {

/// A controller with less than this part of a port's rate left lets the port wait.
constexpr double kLeastPart = 0.25;
/// Tolerance for a number of ports.
constexpr double kPortRounding = 1e-9;

}  // namespace

/// Forgets the packets that have arrived by now.
void PacketEngine::settle(double now) {
    if (now <= settled_) return;
    settled_ = now;
    for (Controller& controller : controllers_)
        std::erase_if(controller.underway, [&](const Underway& packet) {
            if (packet.until > now) return false;
            controller.bytes -= packet.bytes;
            controller.port_bytes[packet.door] -= packet.bytes;
            return true;
        });
}

PacketEngine::Port PacketEngine::choose_port(const Packet& packet, double now) {
    settle(now);
    const auto bytes = static_cast<double>(packet.bytes);
    Port best;
    double soonest = std::numeric_limits<double>::infinity();
    for (size_t h = 0; h < controllers_.size(); ++h) {
        const HbmController& hbm = chip_.hbm[h];
        const double of_all = (controllers_[h].bytes + bytes) / hbm.bytes_per_cycle;
        for (size_t d = 0; d < controllers_[h].port_bytes.size(); ++d) {
            double time =
                std::max((controllers_[h].port_bytes[d] + bytes) / hbm.port_bytes_per_cycle, of_all);
            if (time + hbm.latency >= soonest) continue;
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
    }
    return best;
}

void PacketEngine::ask_ports(int32_t index, double now) {
    Controller& controller = controllers_[static_cast<size_t>(index)];
    const Sent sent = std::move(controller.sent.front());
    controller.sent.pop_front();
    for (const auto& [packet, hop] : sent.asks) {
        const int32_t link = link_of(flights_[static_cast<size_t>(packet)], hop);
        controller.waiting[static_cast<size_t>(link - controller.first_link)].push_back(
            {asked_++, packet, hop});
    }
    release(index, now);
}

/// Stores go before preloads: the execute waits for them.
bool PacketEngine::is_before(const Asking& a, const Asking& b) const {
    const auto key = [&](const Asking& asking) {
        const bool is_preload = flights_[static_cast<size_t>(asking.packet)].kind == TransferKind::kPreload;
        return std::pair(is_preload, asking.number);
    };
    return key(a) < key(b);
}

void PacketEngine::release(int32_t controller, double now) {
    Controller& of = controllers_[static_cast<size_t>(controller)];
    const HbmController& hbm = chip_.hbm[static_cast<size_t>(controller)];
    const double port_rate = std::min(hbm.port_bytes_per_cycle, hbm.bytes_per_cycle);
    std::erase_if(of.active, [&](const Active& active) { return active.until <= now; });
    double available = hbm.bytes_per_cycle;
    for (const Active& active : of.active) available -= active.rate;
    if (available < kLeastPart * port_rate) return;
    // The fewest ports that take the whole rate share it equally. A port that only got the others' rest would
    // end last.
    auto ports = static_cast<double>(of.active.size());
    for (size_t p = 0; p < of.waiting.size(); ++p)
        if (!of.waiting[p].empty() && links_[static_cast<size_t>(of.first_link) + p].free() <= now) ++ports;
    const double fewest = std::ceil(hbm.bytes_per_cycle / port_rate - kPortRounding);
    const double part = std::min(port_rate, hbm.bytes_per_cycle / std::clamp(ports, 1.0, fewest));
    while (available >= kLeastPart * port_rate) {
        size_t best = of.waiting.size();
        for (size_t p = 0; p < of.waiting.size(); ++p) {
            const bool is_free = links_[static_cast<size_t>(of.first_link) + p].free() <= now;
            if (!is_free || of.waiting[p].empty()) continue;
            if (best == of.waiting.size() || is_before(of.waiting[p].front(), of.waiting[best].front()))
                best = p;
        }
        if (best == of.waiting.size()) return;
        const Asking next = of.waiting[best].front();
        of.waiting[best].pop_front();
        const double rate = std::min(part, available);
        hold(next.packet, next.hop, now, flights_[static_cast<size_t>(next.packet)].bytes / rate);
        const double until = links_[static_cast<size_t>(of.first_link) + best].free();
        of.active.push_back({until, rate});
        available -= rate;
        queue_.push(until, EventKind::kRelease, controller);
    }
}

}  // namespace tessera::chip
