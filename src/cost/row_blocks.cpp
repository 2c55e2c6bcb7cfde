#include "cost/row_blocks.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tessera/ntt/blocks.h"

namespace tessera::cost {

double interpolate(const std::map<int64_t, double>& points, int64_t x) {
    const auto above = points.lower_bound(x);
    if (above == points.end()) return points.rbegin()->second;
    if (above->first == x || above == points.begin()) return above->second;
    const auto below = std::prev(above);
    const double share = std::log(static_cast<double>(x) / static_cast<double>(below->first)) /
                         std::log(static_cast<double>(above->first) / static_cast<double>(below->first));
    return below->second * std::pow(above->second / below->second, share);
}

std::map<int64_t, int64_t> RowBlocks::cut(int64_t m) const {
    std::map<int64_t, int64_t> blocks;
    if (tile_rows > 0) {
        const int64_t whole = rows * tile_rows;
        if (m >= whole) blocks[whole] = m / whole;
        if (m % whole > 0) blocks[m % whole] = 1;
        return blocks;
    }
    for (auto size = static_cast<int>(rows); size >= 1 && m > 0; size = ntt::next_block_size(size)) {
        if (m >= size) blocks[size] += m / size;
        m %= size;
    }
    return blocks;
}

bool RowBlocks::tells_of_largest(int64_t m) const {
    if (tile_rows == 0) return true;
    // A call of several tiles whose last one is lower tells the time of no single tile.
    const int64_t largest = cut(m).rbegin()->first;
    return largest <= tile_rows || largest % tile_rows == 0;
}

double RowBlocks::seconds(const std::map<int64_t, double>& listed, int64_t block) const {
    if (tile_rows == 0) {
        const double more = static_cast<double>(block) / static_cast<double>(listed.rbegin()->first);
        return interpolate(listed, block) * std::max(more, 1.0);
    }
    std::map<int64_t, double> of_height, of_a_tile;  // single tiles; one of so many whole ones
    for (const auto& [listed_rows, seconds] : listed) {
        if (listed_rows <= tile_rows) of_height[listed_rows] = seconds;
        if (const int64_t tiles = listed_rows / tile_rows; listed_rows % tile_rows == 0)
            of_a_tile[tiles] = seconds / static_cast<double>(tiles);
    }
    if (of_a_tile.empty()) of_a_tile[1] = of_height.rbegin()->second;
    const int64_t tiles = (block + tile_rows - 1) / tile_rows, height = block - (tiles - 1) * tile_rows;
    const double last =
        of_height.empty() ? 1 : interpolate(of_height, height) / interpolate(of_height, tile_rows);
    return interpolate(of_a_tile, tiles) * (static_cast<double>(tiles - 1) + last);
}

}  // namespace tessera::cost
