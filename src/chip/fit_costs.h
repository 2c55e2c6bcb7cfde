#pragma once

#include <string>
#include <vector>

#include "chip/linear_tree.h"
#include "chip/measured_costs.h"
#include "machine/description.h"

namespace tessera::chip {

/// A fitted link: cycles = latency + bytes / bytes_per_cycle.
struct FittedLink {
    MeasuredLink link = MeasuredLink::kCore;
    size_t samples = 0;
    double latency = 0;
    double bytes_per_cycle = 0;
    FitErrors errors;
};

struct FittedTiles {
    machine::TileCosts costs;
    size_t samples = 0;
    FitErrors errors;
};

struct FittedCosts {
    std::vector<FittedTiles> tiles;
    std::vector<FittedLink> links;
};

/// Models of measured costs (paper 003, 4.3): a linear tree for each type of operator, a line for each link.
/// @throws Error naming the operator or link of which the table has too little, or times that no link has
FittedCosts fit_costs(const MeasuredCosts& measured, const std::string& where);

/// The chip with fitted costs instead of its own: of tiles of the fitted kinds, and of the fitted links.
/// @throws Error naming a link that the chip does not have
machine::Description with_costs(machine::Description chip, const FittedCosts& costs,
                                const std::string& where);

}  // namespace tessera::chip
