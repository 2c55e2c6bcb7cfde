#pragma once

#include <cstdint>
#include <vector>

#include "chip/partition/partition_plans.h"

namespace tessera::partition {

struct PlacedTile {
    std::vector<int64_t> place;  ///< along each iterator
    facts::IterationBox box;
    int32_t core = 0;
};

/// The tiles of a plan on the cores, in order, the first iterator fastest: on a grid each iterator along its
/// axes.
std::vector<PlacedTile> place_tiles(const facts::BoundDefinition& bound, const ExecutePlan& plan,
                                    const chip::ChipDescription& chip);

/// Tiles by number.
using TileGroup = std::vector<size_t>;

/// Tiles that touch the same elements of a tensor, group by group.
std::vector<TileGroup> sharing_tiles(const facts::BoundDefinition& bound, size_t tensor,
                                     const std::vector<PlacedTile>& tiles);

}  // namespace tessera::partition
