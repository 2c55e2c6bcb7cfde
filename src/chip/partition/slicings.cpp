#include "chip/partition/slicings.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "chip/partition/footprints.h"

namespace tessera::partition {

std::vector<int64_t> sizes_along(int64_t extent, int64_t most) {
    std::vector<int64_t> sizes;
    for (int64_t parts = 1; parts <= std::min(extent, most);) {
        const int64_t size = tile_count(extent, parts);
        sizes.push_back(size);
        if (size == 1) break;
        parts = tile_count(extent, size - 1);
    }
    return sizes;
}

std::vector<int64_t> divisors_of(int64_t number) {
    std::vector<int64_t> small, large;
    for (int64_t d = 1; d * d <= number; ++d) {
        if (number % d != 0) continue;
        small.push_back(d);
        if (d * d != number) large.push_back(number / d);
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

std::optional<std::vector<uint32_t>> axes_of_iterators(const std::vector<int64_t>& counts,
                                                       const std::vector<int64_t>& shape) {
    std::vector<size_t> cut;
    for (size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 1) cut.push_back(i);
    if (cut.size() > shape.size()) return std::nullopt;
    // The one with most parts first: it has the fewest choices.
    std::stable_sort(cut.begin(), cut.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
    std::vector<uint32_t> axes(counts.size(), 0);
    const uint32_t all = (1U << shape.size()) - 1;
    const std::function<bool(size_t, uint32_t)> choose = [&](size_t k, uint32_t taken) {
        if (k == cut.size()) return true;
        for (uint32_t own = 1; own <= all; ++own) {
            if ((own & taken) != 0) continue;
            int64_t places = 1;
            for (size_t a = 0; a < shape.size(); ++a)
                if ((own >> a) & 1) places *= shape[a];
            if (places < counts[cut[k]]) continue;
            axes[cut[k]] = own;
            if (choose(k + 1, taken | own)) return true;
        }
        return false;
    };
    if (!choose(0, 0)) return std::nullopt;
    return axes;
}

}  // namespace tessera::partition
