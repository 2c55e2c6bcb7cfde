#include "cost/stopped_loops.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {
namespace {

/// Pairs that are executed with x below `end`.
double pairs_below(int64_t end, const StoppedLoop& loop) {
    const auto y = static_cast<double>(loop.y), block = static_cast<double>(loop.block);
    const auto before = static_cast<double>(std::min(end, loop.x - loop.y));
    const double behind = static_cast<double>(end) - before, blocks = std::floor(behind / block);
    return before * y + block * blocks * (y - block * (blocks - 1) / 2) +
           (behind - blocks * block) * (y - block * blocks);
}

StoppedLoop sane(const StoppedLoop& loop) {
    StoppedLoop sane{std::max<int64_t>(1, loop.x), 1, 1};
    sane.y = std::clamp<int64_t>(loop.y, 1, sane.x);
    sane.block = std::clamp<int64_t>(loop.block, 1, sane.y);
    return sane;
}

}  // namespace

double executed_share(const StoppedLoop& loop) {
    return executed_share_of_first(loop, std::max<int64_t>(1, loop.x), 1);
}

double executed_share_of_first(const StoppedLoop& loop, int64_t tile, int64_t workers) {
    const StoppedLoop all = sane(loop);
    double pairs = 0;
    for (int64_t begin = 0; begin < all.x; begin += tile * workers)
        pairs += pairs_below(std::min(all.x, begin + tile), all) - pairs_below(begin, all);
    return pairs / (static_cast<double>(all.x) * static_cast<double>(all.y));
}

}  // namespace tessera::cost
