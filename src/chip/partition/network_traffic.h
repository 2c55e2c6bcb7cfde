#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chip/chip_description.h"

namespace tessera::partition {

/// Cores along each axis of a grid, a box of it. An all-to-all chip has one axis.
using Spread = std::vector<int64_t>;

/// Links that data passes, and the load of the busiest one, in closed form. On a grid data goes along one
/// axis after the other, the last one first, as in chip::Network.
class NetworkTraffic {
public:
    /// @pre the chip outlives this
    explicit NetworkTraffic(const chip::ChipDescription& chip);

    size_t axes() const { return chip_.chip.is_grid() ? chip_.shape.size() : 1; }
    Spread one_core() const { return Spread(axes(), 1); }
    /// The tiles of each iterator along the axes, where it has so many; none if the grid has no place for
    /// them.
    std::optional<std::vector<Spread>> places(const std::vector<int64_t>& counts) const;

    /// Links between the two cores of a box that are farthest apart.
    int64_t hops(const Spread& box) const;
    /// Links on the longest way of a part that cores of a box pass on to the next one, in rings of `steps`.
    int64_t ring_hops(const Spread& box, int64_t steps) const;
    /// Links from the nearest port of the HBM to the core that is farthest from all ports, the port included.
    int64_t hbm_hops() const { return hbm_hops_; }

    /// Pieces on the busiest link where every core of a box sends one to each of the first `receivers`.
    double exchanged(const Spread& box, int64_t receivers) const;
    /// Each core of a box has an even part of something that all need: the part of the whole on the busiest
    /// link along each axis.
    std::vector<double> gathered(const Spread& box) const;
    /// The same for what each core sends to the next one of its box.
    std::vector<double> to_next(const Spread& box) const;
    /// The part of what the ports of the HBM deliver, all of them equally, on the busiest link, ports
    /// included. Each piece is for the cores at some place modulo `strides` of the box.
    double delivered(const Spread& box, const Spread& strides) const;

private:
    int64_t hops_along(size_t axis, int64_t cores) const;
    bool wraps(size_t axis, int64_t cores) const;
    double crossing(size_t axis, int64_t senders, int64_t receivers) const;
    double behind_ports(size_t axis, const Spread& box, const Spread& strides) const;
    std::vector<int64_t> place_of(int64_t core) const;

    const chip::ChipDescription& chip_;
    int64_t hbm_hops_ = 0;
    /// The part of all ports at each row of a grid of one or two axes, and at each place of a row.
    std::vector<double> ports_of_row_;
    std::vector<std::vector<double>> ports_in_row_;
    double busiest_port_ = 0;
};

}  // namespace tessera::partition
