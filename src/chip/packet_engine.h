#pragma once

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "chip/event_queue.h"
#include "chip/link_queue.h"
#include "chip/packet_pieces.h"
#include "chip/simulation.h"

namespace tessera::chip {

/// Packets in flight. A link carries one packet at a time, those of executes first (chip/link_queue.h),
/// others in the order of their requests. A packet holds every link of its route for bytes / rate: it is cut
/// through if the next link is not faster, and otherwise waits in the node between them, so that no fast link
/// stands still for a slow one.
///
/// When a packet gets its last link, its arrival is known. So arrivals are `landings`, not events. A packet
/// of a preload that gives way on its last link becomes several.
class PacketEngine {
public:
    /// Packets are recorded if there is a place for them.
    PacketEngine(const Chip& chip, const Network& network, EventQueue& queue,
                 std::vector<PacketRecord>* records = nullptr);

    struct Port {
        int32_t controller = 0;
        size_t door = 0;
    };
    struct Packet {
        size_t op = 0;
        TransferKind kind = TransferKind::kPreload;
        int32_t from = 0;             ///< core; not of a preload
        std::span<const int32_t> to;  ///< cores; not of a store
        int64_t bytes = 0;
        int64_t step = 0;
        size_t item = 0;  ///< for its landing and its record
    };
    struct Landing {
        TransferKind kind = TransferKind::kPreload;
        size_t item = 0;
        double time = 0;       ///< now or later
        bool is_more = false;  ///< nothing has landed: a packet of a preload has become one more
        int32_t core = -1;     ///< of a packet to one core, that one
    };

    /// Sends a packet at `now`. A preload or store goes through `port`, or through the one that is free
    /// soonest.
    void send(const Packet& packet, double now, std::optional<Port> port = {});
    /// The number of packets of one transfer of a preload, chosen so that all ports and links work on it.
    int64_t parts(const Transfer& preload, size_t transfers) const;
    static constexpr int64_t kMostParts = 16;
    /// Bytes of a transfer in its first `part` parts. Parts are equal, but if there are many the last three
    /// are a half, a quarter and a quarter: a link into a core that is slower than the HBM has the last one
    /// to itself, while nothing else is read.
    static int64_t bytes_before(int64_t bytes, int64_t part, int64_t parts);

    /// Handles kHop, kBranch, kLink, kPort and kRelease; ignores others.
    void handle(const Event& event);
    /// Landings of packets whose arrival has become known; the reader clears them.
    std::vector<Landing>& landings() { return landings_; }
    /// Cuts the records of packets that have given way into pieces. Called once, after the last event.
    void cut_records();

private:
    /// A packet under way, kept small: there may be hundreds of thousands.
    struct Flight {
        double bytes = 0;
        uint32_t item = 0;
        int32_t core = 0;      ///< where it goes; one of the cores if there are several, 0 of a store
        int32_t tree = -1;     ///< place of its tree; -1: it goes to one place
        int32_t through = -1;  ///< controller, by this door of it
        int32_t door = 0;
        TransferKind kind = TransferKind::kPreload;
    };
    /// The way of a packet to several places. All-to-all it forks once, behind its first link, so there is no
    /// route.
    struct Tree {
        std::vector<Hop> route;
        std::vector<int32_t> first_after,
            next_beside;    ///< of each hop: one that it feeds, one with its parent
        int32_t fork = -1;  ///< a link, behind which it goes to all of `targets`; -1: there is a route
        std::span<const int32_t> targets;
        size_t left = 0;     ///< hops, or links behind the fork, that it has not got yet
        double arrival = 0;  ///< at the latest so far

        void set_route(std::vector<Hop> hops);
    };
    struct Active {
        double until;
        double rate;
    };
    struct Asking {
        uint64_t number;  ///< the order of requests
        int32_t packet, hop;
    };
    struct Underway {
        double until;
        double bytes;
        size_t door;
    };
    struct Sent {
        double time;
        std::vector<std::pair<int32_t, int32_t>> asks;  ///< packets and their first hops
    };
    struct Controller {
        int32_t first_link = 0;                   ///< of its ports, which lie together
        std::vector<std::deque<Asking>> waiting;  ///< for each of these links
        std::vector<Active> active;
        double bytes = 0;                ///< of packets under way
        std::vector<double> port_bytes;  ///< of each door
        std::vector<Underway> underway;  ///< with known arrivals
        std::deque<Sent> sent;           ///< preloads that the HBM will deliver
    };

    int32_t take_flight();
    Tree& take_tree(Flight& flight);
    int32_t record_of(int32_t packet) const { return records_ ? record_[static_cast<size_t>(packet)] : -1; }
    Network::Place target(const Flight& flight) const;
    Tree& tree_of(const Flight& flight) { return trees_[static_cast<size_t>(flight.tree)]; }
    void record(int32_t index, const Packet& packet, double now);
    Port choose_port(const Packet& packet, double now);
    int32_t link_of(const Flight& flight, int32_t hop) const;
    void ask(int32_t packet, int32_t hop, double now);
    void branch(int32_t packet, int32_t hop, double now);
    void ask_ports(int32_t controller, double now);
    bool is_before(const Asking& a, const Asking& b) const;
    void release(int32_t controller, double now);
    void serve(int32_t link, double now);
    void hold(int32_t packet, int32_t hop, double begin, double cycles);
    void hold_rest(LinkRequest rest, int32_t link, double begin);
    void give_way(int32_t link, double then);
    void land(int32_t packet, double end);
    void settle(double now);

    const Chip& chip_;
    const Network& network_;
    EventQueue& queue_;
    std::vector<PacketRecord>* records_;
    std::vector<Flight> flights_;
    std::vector<int32_t> record_;  ///< of each flight the place of its record, if there are any
    std::vector<int32_t> free_flights_;
    std::vector<Tree> trees_;
    std::vector<int32_t> free_trees_;
    std::vector<LinkQueue> links_;
    std::vector<PacketPiece> pieces_;
    std::vector<Controller> controllers_;
    std::vector<Landing> landings_;
    uint64_t asked_ = 0;
    double settled_ = -1;  ///< time of the latest choice of a port
};

}  // namespace tessera::chip
