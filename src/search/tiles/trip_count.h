#pragma once

#include <cstdint>

namespace tessera::tiles {

/// The trips of a loop over an extent in tiles: ceil(extent / tile).
constexpr double trip_count(int64_t extent, int64_t tile) {
    const int64_t trips = (extent + tile - 1) / tile;
    return static_cast<double>(trips);
}

}  // namespace tessera::tiles
