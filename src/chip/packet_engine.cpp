#include "chip/packet_engine.h"

#include <algorithm>
#include <utility>

namespace tessera::chip {
namespace {

constexpr int64_t kLeastPartBytes = 256;
constexpr int64_t kManyParts = 8;

}  // namespace

PacketEngine::PacketEngine(const Chip& chip, const Network& network, EventQueue& queue,
                           std::vector<PacketRecord>* records)
    : chip_(chip), network_(network), queue_(queue), records_(records), links_(network.links().size()) {
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

int64_t PacketEngine::bytes_before(int64_t bytes, int64_t part, int64_t parts) {
    if (parts < kManyParts) return bytes * part / parts;
    // In quarters of a part.
    const int64_t left = parts - part, all = 4 * (parts - 2);
    const int64_t before = all - (left == 0 ? 0 : left == 1 ? 1 : left == 2 ? 2 : 4 * (left - 2));
    return bytes * before / all;
}

int32_t PacketEngine::take_flight() {
    if (free_flights_.empty()) {
        flights_.emplace_back();
        if (records_) record_.push_back(-1);
        return static_cast<int32_t>(flights_.size()) - 1;
    }
    const int32_t place = free_flights_.back();
    free_flights_.pop_back();
    flights_[static_cast<size_t>(place)] = {};
    return place;
}

PacketEngine::Tree& PacketEngine::take_tree(Flight& flight) {
    if (free_trees_.empty()) {
        free_trees_.push_back(static_cast<int32_t>(trees_.size()));
        trees_.emplace_back();
    }
    flight.tree = free_trees_.back();
    free_trees_.pop_back();
    Tree& tree = tree_of(flight);
    tree.arrival = 0;
    return tree;
}

void PacketEngine::Tree::set_route(std::vector<Hop> hops) {
    route = std::move(hops);
    left = route.size();
    first_after.assign(route.size(), -1);
    next_beside.assign(route.size(), -1);
    for (size_t hop = route.size(); hop-- > 0;)
        if (const int32_t parent = route[hop].parent; parent >= 0)
            next_beside[hop] =
                std::exchange(first_after[static_cast<size_t>(parent)], static_cast<int32_t>(hop));
}

void PacketEngine::record(int32_t index, const Packet& packet, double now) {
    if (!records_) return;
    const Flight& flight = flights_[static_cast<size_t>(index)];
    record_[static_cast<size_t>(index)] = static_cast<int32_t>(records_->size());
    const bool leaves = packet.kind == TransferKind::kStore;
    records_->push_back({.op = packet.op,
                         .kind = packet.kind,
                         .from = packet.kind == TransferKind::kPreload ? flight.through : packet.from,
                         .to = leaves ? std::vector<int32_t>{flight.through}
                                      : std::vector<int32_t>(packet.to.begin(), packet.to.end()),
                         .bytes = packet.bytes,
                         .step = packet.step,
                         .links = {},
                         .start = now,
                         .end = 0,
                         .item = packet.item});
}

void PacketEngine::send(const Packet& packet, double now, std::optional<Port> wanted) {
    const bool is_preload = packet.kind == TransferKind::kPreload,
               leaves = packet.kind == TransferKind::kStore;
    const int32_t index = take_flight();
    Flight& flight = flights_[static_cast<size_t>(index)];
    flight.bytes = static_cast<double>(packet.bytes);
    flight.item = static_cast<uint32_t>(packet.item);
    flight.kind = packet.kind;
    Network::Place from{.core = packet.from};
    if (is_preload || leaves) {
        const Port port = wanted ? *wanted : choose_port(packet, now);
        flight.through = port.controller;
        flight.door = static_cast<int32_t>(port.door);
        Controller& controller = controllers_[static_cast<size_t>(port.controller)];
        controller.bytes += flight.bytes;
        controller.port_bytes[port.door] += flight.bytes;
        if (is_preload) from = {.controller = port.controller, .door = port.door};
    }
    if (!leaves) flight.core = packet.to.front();
    const int32_t first = network_.first_link(from, target(flight));
    record(index, packet, now);
    if (!leaves && packet.to.size() > 1) {
        Tree& tree = take_tree(flight);
        tree.fork = chip_.is_grid() ? -1 : first;
        tree.targets = packet.to;
        tree.left = packet.to.size();
        if (chip_.is_grid())
            tree.set_route(is_preload ? network_.from_controller(from.controller, from.door, packet.to)
                                      : network_.between(packet.from, packet.to));
    }
    const bool has_route = flight.tree >= 0 && chip_.is_grid();
    if (is_preload) {
        Controller& controller = controllers_[static_cast<size_t>(from.controller)];
        const double asked = now + chip_.hbm[static_cast<size_t>(from.controller)].latency;
        if (controller.sent.empty() || controller.sent.back().time != asked) {
            controller.sent.push_back({asked, {}});
            queue_.push(asked, EventKind::kPort, from.controller);
        }
        controller.sent.back().asks.emplace_back(index, has_route ? 0 : first);
        return;
    }
    if (!has_route) {
        ask(index, first, now);
        return;
    }
    // On a grid several links may lead out of the sender.
    const auto tree = static_cast<size_t>(flight.tree);
    for (size_t hop = 0; hop < trees_[tree].route.size(); ++hop)
        if (trees_[tree].route[hop].parent < 0) ask(index, static_cast<int32_t>(hop), now);
}

void PacketEngine::handle(const Event& event) {
    switch (event.kind) {
        case EventKind::kHop:
            return ask(event.a, event.b, event.time);
        case EventKind::kBranch:
            return branch(event.a, event.b, event.time);
        case EventKind::kLink:
            return serve(event.a, event.time);
        case EventKind::kPort:
            return ask_ports(event.a, event.time);
        case EventKind::kRelease:
            return release(event.a, event.time);
        default:
            return;
    }
}

Network::Place PacketEngine::target(const Flight& flight) const {
    if (flight.kind == TransferKind::kStore)
        return {.controller = flight.through, .door = static_cast<size_t>(flight.door)};
    return {.core = flight.core};
}

/// For a packet without a route, a hop is the link itself.
int32_t PacketEngine::link_of(const Flight& flight, int32_t hop) const {
    return flight.tree >= 0 && chip_.is_grid()
               ? trees_[static_cast<size_t>(flight.tree)].route[static_cast<size_t>(hop)].link
               : hop;
}

void PacketEngine::ask(int32_t packet, int32_t hop, double now) {
    const Flight& flight = flights_[static_cast<size_t>(packet)];
    const int32_t index = link_of(flight, hop);
    const Link& link = network_.links()[static_cast<size_t>(index)];
    if (link.controller >= 0) {
        Controller& controller = controllers_[static_cast<size_t>(link.controller)];
        controller.waiting[static_cast<size_t>(index - controller.first_link)].push_back(
            {asked_++, packet, hop});
        release(link.controller, now);
        return;
    }
    LinkQueue& queue = links_[static_cast<size_t>(index)];
    const double cycles = flight.bytes / link.bytes_per_cycle;
    if (flight.kind != TransferKind::kPreload) {
        if (queue.may_give_way(now)) give_way(index, queue.way(now));
        hold(packet, hop, std::max(now, queue.free()), cycles);
    } else if (queue.is_free(now)) {
        hold(packet, hop, now, cycles);
    } else {
        queue.wait({.packet = packet, .hop = hop, .bytes = flight.bytes});
    }
    if (queue.needs_call()) queue_.push(queue.free(), EventKind::kLink, index);
}

/// A link may have several events, and one that has been given to executes since then is not free.
void PacketEngine::serve(int32_t link, double now) {
    LinkQueue& queue = links_[static_cast<size_t>(link)];
    queue.was_called(now);
    if (queue.free() <= now && queue.has_waiting()) {
        const LinkRequest next = queue.next();
        if (next.packet < 0)
            hold_rest(next, link, now);
        else
            hold(next.packet, next.hop, now,
                 next.bytes / network_.links()[static_cast<size_t>(link)].bytes_per_cycle);
    }
    if (queue.needs_call()) queue_.push(queue.free(), EventKind::kLink, link);
}

void PacketEngine::give_way(int32_t link, double then) {
    LinkQueue& queue = links_[static_cast<size_t>(link)];
    if (then >= queue.free()) return;
    const LinkRequest holder = queue.holder();
    const double begin = queue.begin(), left = queue.give_way(then).bytes;
    landings_.push_back({TransferKind::kPreload, holder.item, then, /*is_more=*/true});
    if (holder.record < 0) return;
    const PacketPiece sent{holder.record, holder.place, holder.bytes - left, begin, then};
    if (holder.piece < 0)
        pieces_.push_back(sent);
    else
        pieces_[static_cast<size_t>(holder.piece)] = sent;
}

/// The rest of a packet is on its last link.
void PacketEngine::hold_rest(LinkRequest rest, int32_t link, double begin) {
    const double until = begin + rest.bytes / network_.links()[static_cast<size_t>(link)].bytes_per_cycle;
    if (rest.record >= 0) {
        rest.piece = static_cast<int32_t>(pieces_.size());
        pieces_.push_back({rest.record, rest.place, rest.bytes, begin, until});
    }
    links_[static_cast<size_t>(link)].hold(rest, begin, until);
    landings_.push_back({TransferKind::kPreload, rest.item, until + chip_.latency});
}

void PacketEngine::cut_records() {
    if (records_) *records_ = cut_into_pieces(std::move(*records_), pieces_, chip_.latency);
}

void PacketEngine::branch(int32_t packet, int32_t hop, double now) {
    // The last hop to get its link may end the packet, and then its tree is reused.
    const auto tree = static_cast<size_t>(flights_[static_cast<size_t>(packet)].tree);
    if (trees_[tree].fork >= 0) {
        for (const int32_t core : std::span(trees_[tree].targets))
            ask(packet, network_.link_after(hop, {.core = core}), now);
        return;
    }
    for (int32_t next = trees_[tree].first_after[static_cast<size_t>(hop)]; next >= 0;) {
        const int32_t beside = trees_[tree].next_beside[static_cast<size_t>(next)];
        ask(packet, next, now);
        next = beside;
    }
}

/// @pre the link is free at the begin
void PacketEngine::hold(int32_t packet, int32_t hop, double begin, double cycles) {
    const Flight& flight = flights_[static_cast<size_t>(packet)];
    Tree* const tree = flight.tree < 0 ? nullptr : &tree_of(flight);
    const bool has_route = tree && tree->fork < 0;
    const int32_t link = link_of(flight, hop);
    const double until = begin + cycles, arrival = until + chip_.latency;
    int32_t next = -1;  // a link behind this one
    if (has_route) {
        const int32_t after = tree->first_after[static_cast<size_t>(hop)];
        if (after >= 0) next = tree->route[static_cast<size_t>(after)].link;
    } else if (!tree || link == tree->fork) {
        next = network_.link_after(link, target(flight));
    }
    const int32_t record = record_of(packet);
    int32_t place = 0;
    if (record >= 0) {
        std::vector<HeldLink>& held = (*records_)[static_cast<size_t>(record)].links;
        place = static_cast<int32_t>(held.size());
        held.push_back({link, begin, until});
    }
    LinkQueue& queue = links_[static_cast<size_t>(link)];
    if (next < 0 && flight.kind == TransferKind::kPreload)
        queue.hold({.bytes = flight.bytes, .item = flight.item, .record = record, .place = place}, begin,
                   until);
    else
        queue.take(until);
    if (next >= 0) {
        // Links behind one link are equally fast, except ports, which have none behind them.
        const double through = flight.bytes / network_.links()[static_cast<size_t>(next)].bytes_per_cycle;
        const double asked = std::max(begin + chip_.latency, arrival - through);
        if (tree)
            queue_.push(asked, EventKind::kBranch, packet, hop);
        else
            queue_.push(asked, EventKind::kHop, packet, next);
    }
    if (!tree) {
        if (next < 0) land(packet, arrival);
        return;
    }
    tree->arrival = std::max(tree->arrival, arrival);
    if ((has_route || next < 0) && --tree->left == 0) land(packet, tree->arrival);
}

void PacketEngine::land(int32_t packet, double end) {
    const Flight& flight = flights_[static_cast<size_t>(packet)];
    if (flight.through >= 0) {
        Controller& controller = controllers_[static_cast<size_t>(flight.through)];
        if (flight.kind == TransferKind::kStore)
            end += chip_.hbm[static_cast<size_t>(flight.through)].latency;
        controller.underway.push_back({end, flight.bytes, static_cast<size_t>(flight.door)});
    }
    if (const int32_t record = record_of(packet); record >= 0)
        (*records_)[static_cast<size_t>(record)].end = end;
    landings_.push_back(
        {.kind = flight.kind, .item = flight.item, .time = end, .core = flight.tree < 0 ? flight.core : -1});
    if (flight.tree >= 0) free_trees_.push_back(flight.tree);
    free_flights_.push_back(packet);
}

}  // namespace tessera::chip
