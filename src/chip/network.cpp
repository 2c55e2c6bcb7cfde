#include "chip/network.h"

#include <cstdlib>
#include <unordered_map>

#include <fmt/core.h>

namespace tessera::chip {
Network::Network(const Chip& chip) : chip_(chip) {
    if (chip.topology == Topology::kAllToAll) {
        for (int32_t c = 0; c < chip.cores; ++c) {
            to_switch_.push_back(add_link(c, chip.cores, chip.link_bytes_per_cycle));
            from_switch_.push_back(add_link(chip.cores, c, chip.link_bytes_per_cycle));
        }
    } else {
        join_grid();
    }
    for (size_t h = 0; h < chip.hbm.size(); ++h) {
        const auto controller = static_cast<int32_t>(h);
        const int32_t self = chip.cores + 1 + controller;
        out_.emplace_back();
        in_.emplace_back();
        for (size_t d = 0; d < doors(controller); ++d) {
            const int32_t at = chip.is_grid() ? chip.hbm[h].at[d] : chip.cores;
            out_.back().push_back(add_link(self, at, chip.hbm[h].port_bytes_per_cycle, controller));
            in_.back().push_back(add_link(at, self, chip.hbm[h].port_bytes_per_cycle, controller));
        }
    }
}

int32_t Network::add_link(int32_t from, int32_t to, double rate, int32_t controller) {
    links_.push_back({from, to, rate, controller});
    return static_cast<int32_t>(links_.size()) - 1;
}

std::string Network::node(int32_t index) const {
    if (index < chip_.cores) return fmt::format("{}", index);
    return index == chip_.cores ? "x" : fmt::format("h{}", index - chip_.cores - 1);
}

std::string Network::name(int32_t link) const {
    const Link& of = links_[static_cast<size_t>(link)];
    return node(of.from) + ">" + node(of.to);
}

size_t Network::doors(int32_t controller) const {
    return chip_.is_grid() ? chip_.hbm[static_cast<size_t>(controller)].at.size() : 1;
}

int32_t Network::door_core(int32_t controller, size_t door) const {
    return chip_.hbm[static_cast<size_t>(controller)].at[door];
}

void Network::join_grid() {
    neighbour_.assign(4 * static_cast<size_t>(chip_.cores), -1);
    const bool is_one_way = chip_.topology == Topology::kOneWayTorus;
    const auto join = [&](int32_t a, int32_t b, Direction there, Direction back) {
        neighbour_[slot(a, there)] = add_link(a, b, chip_.link_bytes_per_cycle);
        if (!is_one_way) neighbour_[slot(b, back)] = add_link(b, a, chip_.link_bytes_per_cycle);
    };
    // Between two cores there is one link each way, which a two-way torus uses for both directions.
    const bool has_wrap = chip_.topology != Topology::kMesh;
    const auto wraps = [&](int32_t extent) { return has_wrap && extent > (is_one_way ? 1 : 2); };
    for (int32_t c = 0; c < chip_.cores; ++c) {
        const int32_t column = c % chip_.columns, row = c / chip_.columns;
        if (column + 1 < chip_.columns || wraps(chip_.columns))
            join(c, row * chip_.columns + (column + 1) % chip_.columns, kRight, kLeft);
        if (row + 1 < chip_.rows || wraps(chip_.rows))
            join(c, (row + 1) % chip_.rows * chip_.columns + column, kDown, kUp);
    }
}

/// True if the way between two places of a row or column leads to higher places.
bool Network::goes_up(int32_t from, int32_t to, int32_t extent) const {
    if (chip_.topology == Topology::kMesh) return to > from;
    if (chip_.topology == Topology::kOneWayTorus) return true;
    const int32_t up = (to - from + extent) % extent;
    // If both ways are equally long, half of the places take each.
    return 2 * up != extent ? 2 * up < extent : from % 2 == 0;
}

int32_t Network::steps(int32_t from, int32_t to, int32_t extent) const {
    return goes_up(from, to, extent) ? (to - from + extent) % extent : (from - to + extent) % extent;
}

Network::Direction Network::next(int32_t at, int32_t target) const {
    const int32_t column = at % chip_.columns, target_column = target % chip_.columns;
    if (column != target_column) return goes_up(column, target_column, chip_.columns) ? kRight : kLeft;
    return goes_up(at / chip_.columns, target / chip_.columns, chip_.rows) ? kDown : kUp;
}

int32_t Network::distance(int32_t a, int32_t b) const {
    if (!chip_.is_grid()) return a == b ? 0 : 2;
    return steps(a % chip_.columns, b % chip_.columns, chip_.columns) +
           steps(a / chip_.columns, b / chip_.columns, chip_.rows);
}

void Network::add_paths(int32_t from, std::span<const int32_t> to, int32_t parent,
                        std::vector<Hop>& route) const {
    std::unordered_map<int32_t, int32_t> hop_of;  // of each link of the tree
    for (const int32_t target : to) {
        int32_t before = parent;
        for (int32_t at = from; at != target;) {
            const int32_t link = neighbour_[slot(at, next(at, target))];
            const auto [found, is_new] = hop_of.try_emplace(link, static_cast<int32_t>(route.size()));
            if (is_new) route.push_back({link, before});
            before = found->second;
            at = links_[static_cast<size_t>(link)].to;
        }
    }
}

std::vector<Hop> Network::between(int32_t from, std::span<const int32_t> to) const {
    std::vector<Hop> route;
    if (chip_.is_grid()) {
        add_paths(from, to, -1, route);
        return route;
    }
    route.push_back({to_switch_[static_cast<size_t>(from)], -1});
    for (const int32_t target : to) route.push_back({from_switch_[static_cast<size_t>(target)], 0});
    return route;
}

std::vector<Hop> Network::from_controller(int32_t controller, size_t door,
                                          std::span<const int32_t> to) const {
    std::vector<Hop> route = {{out_[static_cast<size_t>(controller)][door], -1}};
    if (chip_.is_grid())
        add_paths(door_core(controller, door), to, 0, route);
    else
        for (const int32_t target : to) route.push_back({from_switch_[static_cast<size_t>(target)], 0});
    return route;
}

int32_t Network::first_link(const Place& from, const Place& to) const {
    if (from.controller >= 0) return out_[static_cast<size_t>(from.controller)][from.door];
    if (!chip_.is_grid()) return to_switch_[static_cast<size_t>(from.core)];
    return link_from(from.core, to);
}

int32_t Network::link_after(int32_t link, const Place& to) const {
    const int32_t at = links_[static_cast<size_t>(link)].to;
    if (at == (to.controller >= 0 ? chip_.cores + 1 + to.controller : to.core)) return -1;
    return link_from(at, to);
}

int32_t Network::link_from(int32_t at, const Place& to) const {
    const bool leaves = to.controller >= 0;
    if (leaves && at == (chip_.is_grid() ? door_core(to.controller, to.door) : chip_.cores))
        return in_[static_cast<size_t>(to.controller)][to.door];
    if (!chip_.is_grid()) return from_switch_[static_cast<size_t>(to.core)];
    const int32_t target = leaves ? door_core(to.controller, to.door) : to.core;
    return neighbour_[slot(at, next(at, target))];
}

}  // namespace tessera::chip
