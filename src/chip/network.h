#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chip/chip.h"

namespace tessera::chip {

/// A link leads from one node to another, one packet at a time.
struct Link {
    int32_t from = 0;  ///< node
    int32_t to = 0;
    double bytes_per_cycle = 0;
    int32_t controller = -1;  ///< the owner, if the link is a port
};

/// One link of a route, after the one that feeds it.
struct Hop {
    int32_t link = 0;
    int32_t parent = -1;  ///< hop of the route; -1: the first link
};

/// The nodes and links of a chip. Nodes: the cores, then the switch of an all-to-all chip, then the
/// controllers.
class Network {
public:
    explicit Network(const Chip& chip);

    const std::vector<Link>& links() const { return links_; }
    std::string name(int32_t link) const;

    /// The route of a packet from a core to cores: a tree, on a grid along the row first.
    std::vector<Hop> between(int32_t from, std::span<const int32_t> to) const;
    /// From a controller, through its port at `door` (an index of `at`; 0 on an all-to-all chip), to cores.
    std::vector<Hop> from_controller(int32_t controller, size_t door, std::span<const int32_t> to) const;

    /// A core, or a controller behind one of its doors.
    struct Place {
        int32_t core = 0;
        int32_t controller = -1;
        size_t door = 0;
    };
    /// The first link of the way from one place to another, and the one after `link`; -1 at the end. No route
    /// is kept for packets to one place.
    int32_t first_link(const Place& from, const Place& to) const;
    int32_t link_after(int32_t link, const Place& to) const;
    size_t doors(int32_t controller) const;
    /// The number of links between two cores.
    int32_t distance(int32_t a, int32_t b) const;
    int32_t door_core(int32_t controller, size_t door) const;

private:
    enum Direction : uint8_t { kRight, kLeft, kDown, kUp };

    static size_t slot(int32_t core, Direction direction) {
        return 4 * static_cast<size_t>(core) + direction;
    }
    void join_grid();
    int32_t link_from(int32_t at, const Place& to) const;
    /// The direction from `at` to another core: along the row until the columns agree.
    Direction next(int32_t at, int32_t target) const;
    bool goes_up(int32_t from, int32_t to, int32_t extent) const;
    int32_t steps(int32_t from, int32_t to, int32_t extent) const;
    int32_t add_link(int32_t from, int32_t to, double rate, int32_t controller = -1);
    void add_paths(int32_t from, std::span<const int32_t> to, int32_t parent, std::vector<Hop>& route) const;
    std::string node(int32_t index) const;

    const Chip& chip_;
    std::vector<Link> links_;
    std::vector<int32_t> neighbour_;  ///< grid: link of each core to the right, left, down, up; -1: none
    std::vector<int32_t> to_switch_, from_switch_;
    std::vector<std::vector<int32_t>> out_, in_;  ///< of each controller and door
};

}  // namespace tessera::chip
