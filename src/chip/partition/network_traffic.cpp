// Let a box have c cores along an axis. The link behind the first x of them carries, one way,
//
//     every core to every core     what x cores send to c - x: most for x = c / 2
//     an even part of each core,   what x cores have; behind all but the last one nearly everything
//     needed by all
//     ports to cores               the part of the ports at the first x places, of what is for a core behind
//
// times what comes together on it from the axes that were passed before, and what is for the axes to come.

#include "chip/partition/network_traffic.h"

#include <algorithm>
#include <cstdlib>

#include "chip/partition/footprints.h"
#include "chip/partition/slicings.h"

namespace tessera::partition {

NetworkTraffic::NetworkTraffic(const chip::ChipDescription& chip) : chip_(chip) {
    if (!chip.chip.is_grid()) {
        hbm_hops_ = 2;
        return;
    }
    std::vector<std::vector<int64_t>> doors;
    double all = 0;
    for (const chip::HbmController& each : chip.chip.hbm)
        for (const int32_t core : each.at) {
            doors.push_back(place_of(core));
            all += each.port_bytes_per_cycle;
            busiest_port_ = std::max(busiest_port_, each.port_bytes_per_cycle);
        }
    busiest_port_ /= all;
    for (int64_t core = 0; core < chip.chip.cores; ++core) {
        const std::vector<int64_t> at = place_of(core);
        int64_t nearest = INT64_MAX;
        for (const auto& door : doors) {
            int64_t links = 1;
            for (size_t a = 0; a < at.size(); ++a) {
                const int64_t apart = std::abs(at[a] - door[a]);
                links += chip.chip.topology == chip::Topology::kTorus ? std::min(apart, chip.shape[a] - apart)
                                                                      : apart;
            }
            nearest = std::min(nearest, links);
        }
        hbm_hops_ = std::max(hbm_hops_, nearest);
    }
    if (axes() > 2) return;
    const int64_t columns = chip.shape.back(), rows = chip.chip.cores / columns;
    ports_of_row_.assign(static_cast<size_t>(rows), 0);
    ports_in_row_.assign(static_cast<size_t>(rows), std::vector<double>(static_cast<size_t>(columns), 0));
    for (const chip::HbmController& each : chip.chip.hbm)
        for (const int32_t core : each.at) {
            const double part = each.port_bytes_per_cycle / all;
            ports_of_row_[static_cast<size_t>(core / columns)] += part;
            ports_in_row_[static_cast<size_t>(core / columns)][static_cast<size_t>(core % columns)] += part;
        }
}

std::vector<int64_t> NetworkTraffic::place_of(int64_t core) const {
    std::vector<int64_t> at(chip_.shape.size(), 0);
    for (size_t a = at.size(); a-- > 0; core /= chip_.shape[a]) at[a] = core % chip_.shape[a];
    return at;
}

std::optional<std::vector<Spread>> NetworkTraffic::places(const std::vector<int64_t>& counts) const {
    std::vector<Spread> result(counts.size(), one_core());
    if (!chip_.chip.is_grid()) {
        for (size_t i = 0; i < counts.size(); ++i) result[i][0] = counts[i];
        return result;
    }
    const auto own = axes_of_iterators(counts, chip_.shape);
    if (!own) return std::nullopt;
    for (size_t i = 0; i < counts.size(); ++i) {
        int64_t rest = counts[i];
        for (size_t a = 0; a < axes(); ++a) {
            if ((((*own)[i] >> a) & 1) == 0) continue;
            result[i][a] = std::min(rest, chip_.shape[a]);
            rest = tile_count(rest, chip_.shape[a]);
        }
    }
    return result;
}

int64_t NetworkTraffic::ring_hops(const Spread& box, int64_t steps) const {
    if (!chip_.chip.is_grid()) return 2 * (steps - 1);
    // In each step to the neighbour, and once back from the last one to the first.
    return steps - 1 + std::min(hops(box), steps - 1);
}

std::vector<double> NetworkTraffic::to_next(const Spread& box) const {
    std::vector<double> parts(axes(), 0);
    size_t first = 0;
    while (first + 1 < axes() && box[first] == 1) ++first;
    parts[first] = 1;
    return parts;
}

bool NetworkTraffic::wraps(size_t axis, int64_t cores) const {
    return chip_.chip.topology == chip::Topology::kTorus && cores == chip_.shape[axis] && cores > 2;
}

int64_t NetworkTraffic::hops_along(size_t axis, int64_t cores) const {
    if (chip_.chip.topology != chip::Topology::kTorus) return cores - 1;
    return std::min(cores - 1, chip_.shape[axis] / 2);
}

int64_t NetworkTraffic::hops(const Spread& box) const {
    if (!chip_.chip.is_grid()) return 2;
    int64_t links = 0;
    for (size_t a = 0; a < axes(); ++a) links += hops_along(a, box[a]);
    return std::max<int64_t>(1, links);
}

double NetworkTraffic::crossing(size_t axis, int64_t senders, int64_t receivers) const {
    // All ways of a ring, over its links both ways.
    if (wraps(axis, senders)) {
        const auto c = static_cast<double>(senders), r = static_cast<double>(receivers);
        return r * (c - (senders % 2 != 0 ? 1 / c : 0)) / 8;
    }
    const int64_t first = std::min(receivers, senders / 2);
    return static_cast<double>(first * (senders - first));
}

double NetworkTraffic::exchanged(const Spread& box, int64_t receivers) const {
    if (!chip_.chip.is_grid()) return static_cast<double>(box[0] - 1);
    // The first receivers are a box, too, from the first axis on.
    Spread to(axes(), 1);
    for (size_t a = 0; a < axes(); ++a) {
        to[a] = std::min(box[a], receivers);
        receivers = tile_count(receivers, box[a]);
    }
    double most = 0;
    for (size_t a = 0; a < axes(); ++a) {
        double pieces = crossing(a, box[a], to[a]);
        for (size_t b = a + 1; b < axes(); ++b) pieces *= static_cast<double>(box[b]);
        for (size_t b = 0; b < a; ++b) pieces *= static_cast<double>(to[b]);
        most = std::max(most, pieces);
    }
    return most;
}

std::vector<double> NetworkTraffic::gathered(const Spread& box) const {
    std::vector<double> parts(axes(), 0);
    double together = 1;  // of the whole, in one line along the axis
    for (size_t a = 0; a < axes(); ++a) {
        const auto cores = static_cast<double>(box[a]);
        if (box[a] > 1) parts[a] = together;
        together /= cores;
    }
    return parts;
}

/// The part of all pieces on the busiest link along an axis of a mesh of one or two axes. Pieces go along
/// rows first: a row carries what its own ports deliver, a column what enters above or below the place.
double NetworkTraffic::behind_ports(size_t axis, const Spread& box, const Spread& strides) const {
    const bool is_in_rows = axis + 1 == axes();
    const int64_t extent = chip_.shape[axis];
    // The part of the pieces with a receiver at place x or behind it, or at x or before it.
    const auto at_or_behind = [&](int64_t x) {
        return std::clamp(static_cast<double>(box[axis] - x) / static_cast<double>(strides[axis]), 0.0, 1.0);
    };
    const auto at_or_before = [&](int64_t x) {
        return std::min(1.0, static_cast<double>(x + 1) / static_cast<double>(strides[axis]));
    };
    double most = 0;
    const auto pass = [&](const std::vector<double>& ports) {
        double before = 0, all = 0;
        for (const double part : ports) all += part;
        for (int64_t x = 0; x + 1 < extent; ++x) {
            before += ports[static_cast<size_t>(x)];
            most = std::max({most, before * at_or_behind(x + 1), (all - before) * at_or_before(x)});
        }
    };
    if (is_in_rows) {
        for (const auto& row : ports_in_row_) pass(row);
        return most;
    }
    pass(ports_of_row_);
    return most / static_cast<double>(strides[axes() - 1]);
}

double NetworkTraffic::delivered(const Spread& box, const Spread& strides) const {
    if (!chip_.chip.is_grid()) return 0;
    double most = busiest_port_;
    if (chip_.chip.topology == chip::Topology::kMesh && axes() <= 2)
        for (size_t a = 0; a < axes(); ++a) most = std::max(most, behind_ports(a, box, strides));
    return most;
}

}  // namespace tessera::partition
