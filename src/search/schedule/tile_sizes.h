#pragma once

#include <cstdint>
#include <vector>

namespace tessera::schedule {

/// The sizes that a tile of an iterator may have, ascending: powers of two, divisors where the extent is
/// constant, and the extent.
inline std::vector<int64_t> tile_sizes(int64_t extent, bool is_constant) {
    std::vector<int64_t> sizes;
    int64_t next = 1;
    for (int64_t size = 1; size < extent; ++size) {
        if (size < next) size = next;
        if (size >= extent) break;
        if (is_constant && extent % size != 0) continue;
        sizes.push_back(size);
        next = 2 * size;
    }
    sizes.push_back(extent);
    return sizes;
}

}  // namespace tessera::schedule
