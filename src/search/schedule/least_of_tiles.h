#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/schedule/open_tiles.h"
#include "search/tiles/problem.h"

namespace tessera::schedule {

/// A lower bound on the seconds of a nest as a function of its open tiles, one variable of the problem for
/// each of them: what the operators compute, each by the fastest of its leaves, as often as the loops around
/// it turn. No price of the nest is below it, since transfers and stalls are left out and a worker executes
/// its share at least.
/// @param least by operator of the block: seconds below which it takes in no kernel
/// @return nothing for a nest with loops whose tiles are given
std::optional<tiles::Problem> least_of_tiles(const BlockContext& block, lowering::NumberedNest nest,
                                             const std::vector<bool>& is_tile, std::span<const double> least);

}  // namespace tessera::schedule
