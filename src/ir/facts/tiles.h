#pragma once

#include <map>
#include <vector>

#include "ir/facts/bound_definition.h"

namespace tessera::facts {

/// The part of one tensor that a tile of the iterations needs.
struct Footprint {
    std::vector<int64_t> origin;  ///< of the bounding box; an indirect axis is given whole
    std::vector<int64_t> extent;
    int64_t elements = 0;  ///< distinct, in range
    bool operator==(const Footprint&) const = default;
};

/// For each tensor, the in-range elements of all its accesses in this box, whether the predicate holds or
/// not.
std::vector<Footprint> tile_footprints(const BoundDefinition& bound, const IterationBox& tile);

/// Full tiles at these origins. @throws Error if one is not full, or not at a multiple of its size.
IterationBox interior_tile(const BoundDefinition& bound, const std::map<std::string, TileSize>& tile);
/// The last tile along every tiled iterator, cut at its extent.
IterationBox last_tile(const BoundDefinition& bound, const std::map<std::string, TileSize>& tile);

}  // namespace tessera::facts
