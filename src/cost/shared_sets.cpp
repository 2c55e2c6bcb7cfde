#include "cost/shared_sets.h"

#include <algorithm>
#include <numeric>

namespace tessera::cost {

bool exceed_shared_sets(int64_t pieces, int64_t distance_bytes, int64_t piece_bytes, int64_t capacity_bytes,
                        int64_t line_bytes) {
    constexpr int64_t kBytesOfWay = 4096;
    if (distance_bytes % line_bytes != 0) return false;
    const int64_t sets = kBytesOfWay / line_bytes, ways = std::max<int64_t>(1, capacity_bytes / kBytesOfWay);
    const int64_t lines = (piece_bytes + line_bytes - 1) / line_bytes;
    const int64_t between = std::gcd(sets, distance_bytes / line_bytes);  // sets, from one piece to another
    if (lines >= between) return false;
    return pieces * lines > sets / between * lines * ways;
}

}  // namespace tessera::cost
