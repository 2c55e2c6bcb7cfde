#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
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

/// Sizes of about three quarters of one, as much, and half as much again, that whole blocks fill.
/// @param blocks elements of each, over 0
inline std::set<int64_t> sizes_in_blocks(int64_t size, const std::set<int64_t>& blocks) {
    std::set<int64_t> sizes;
    for (const int64_t block : blocks)
        for (const int64_t quarters : {3, 4, 6})
            sizes.insert(std::max<int64_t>(1, size * quarters / (4 * block)) * block);
    return sizes;
}

}  // namespace tessera::schedule
