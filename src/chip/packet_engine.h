#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "chip/event_queue.h"
#include "chip/simulation.h"

namespace tessera::chip {

/// Packets in flight. A link carries one packet at a time, in the order in which they ask for it. A packet
/// holds every link of its route for bytes / rate: it is cut through where the next link is not faster, and
/// waits in the node in between where it is, so that no fast link stands still for a slow one.
class PacketEngine {
public:
    /// `keeps_packets`: the records of packets that have arrived stay; otherwise others take their places.
    PacketEngine(const Chip& chip, const Network& network, EventQueue& queue,
                 std::vector<PacketRecord>& packets, bool keeps_packets = true);

    struct Port {
        int32_t controller = 0;
        size_t door = 0;
    };

    /// Sends a packet at `now`, with from and to filled in. A preload or store goes through `port`, or
    /// through the one that is free soonest. @return its place among the packets
    int32_t send(PacketRecord packet, double now, std::optional<Port> port = {});
    /// Packets into which one of the transfers of a preload is cut, so that all ports and links work on it.
    int64_t parts(const Transfer& preload, size_t transfers) const;
    static constexpr int64_t kMostParts = 16;

    void ask(int32_t packet, int32_t hop, double now);  ///< on EventKind::kHop
    void release(int32_t controller, double now);       ///< on EventKind::kRelease
    void arrive(int32_t packet);                        ///< on EventKind::kPacketEnd
    void forget(int32_t packet);                        ///< after its arrival, when nobody needs it any more

private:
    struct Flight {
        std::vector<Hop> route;
        bool is_chain = false;  ///< each hop feeds the next one
        std::vector<int32_t> first_after,
            next_beside;     ///< of each hop of a tree: one that it feeds, one with the same parent; -1
        size_t asked = 0;    ///< hops that have their link
        double arrival = 0;  ///< at the latest so far
        int32_t controller = -1;
        size_t door = 0;

        int32_t first_next(int32_t hop) const {
            if (!is_chain) return first_after[static_cast<size_t>(hop)];
            return static_cast<size_t>(hop) + 1 < route.size() ? hop + 1 : -1;
        }
        int32_t next_of_parent(int32_t hop) const {
            return is_chain ? -1 : next_beside[static_cast<size_t>(hop)];
        }
    };
    struct Active {
        double until;
        double rate;
    };
    struct Asking {
        uint64_t number;  ///< who asked earlier is first
        int32_t packet, hop;
    };
    struct Controller {
        int32_t first_link = 0;                   ///< of its ports, which lie together
        std::vector<std::deque<Asking>> waiting;  ///< for each of these links
        std::vector<Active> active;
        double bytes = 0;                ///< of packets under way
        std::vector<double> port_bytes;  ///< of each door
    };

    int32_t place_of_next();
    static void join_hops(Flight& flight);
    Port choose_port(const PacketRecord& packet) const;
    void hold(int32_t packet, int32_t hop, double begin, double cycles);

    const Chip& chip_;
    const Network& network_;
    EventQueue& queue_;
    std::vector<PacketRecord>& packets_;
    std::vector<Flight> flights_;
    std::vector<int32_t> free_;  ///< places of packets that are forgotten
    bool keeps_packets_;
    std::vector<double> link_free_;
    std::vector<Controller> controllers_;
    uint64_t asked_ = 0;
};

}  // namespace tessera::chip
