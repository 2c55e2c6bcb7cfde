#include "nest/nests/feasible_count.h"

#include <algorithm>
#include <array>

#include "support/error.h"

namespace tessera::nests {

FeasibleCount::FeasibleCount(const Space& space, int64_t& steps)
    : space_(space), steps_(steps), tiled_(space.loops), tiles_(space.extents.size(), 1) {
    tiled_.push_back(space.k);
    for (const size_t x : tiled_) all_.push_back(space.sizes(x));
}

void FeasibleCount::charge() {
    if (--steps_ < 0)
        throw Error(space_.kernel.where, "", "has too many tile sizes to count those that fit",
                    "make `multiple` larger");
}

int64_t FeasibleCount::of(const StructureCost& cost, const Structure& structure) {
    // Illegal: a loop that softmax_sum may not have inside its reduction, both with two trips or more.
    const auto reduction = std::ranges::find(structure.order, space_.reduction);
    std::vector<bool> is_forbidden(tiled_.size());
    for (size_t i = 0; i < tiled_.size(); ++i)
        is_forbidden[i] = std::ranges::find(space_.unused, tiled_[i]) != space_.unused.end() &&
                          std::find(reduction, structure.order.end(), tiled_[i]) != structure.order.end();
    if (std::ranges::find(is_forbidden, true) == is_forbidden.end()) return count(cost, all_);
    const auto whole = [&](size_t i) { return std::vector<int64_t>{space_.extents[tiled_[i]]}; };
    Sizes one_trip = all_;  // of the reduction
    Sizes more_trips = all_;
    for (size_t i = 0; i < tiled_.size(); ++i) {
        if (tiled_[i] == space_.reduction) {
            one_trip[i] = whole(i);
            more_trips[i].pop_back();
        }
        if (is_forbidden[i]) more_trips[i] = whole(i);
    }
    return count(cost, one_trip) + count(cost, more_trips);
}

int64_t FeasibleCount::count(const StructureCost& cost, const Sizes& sizes) {
    std::vector<size_t> order(tiled_.size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
        if (sizes[i].empty()) return 0;
        tiles_[tiled_[i]] = sizes[i].front();
    }
    // The longest list is bisected.
    std::ranges::stable_sort(order, {}, [&](size_t i) { return sizes[i].size(); });
    return count_from(cost, sizes, order, 0);
}

int64_t FeasibleCount::count_from(const StructureCost& cost, const Sizes& sizes,
                                  const std::vector<size_t>& order, size_t position) {
    const size_t i = order[position];
    if (position + 1 == order.size()) return count_last(cost, sizes[i], tiled_[i]);
    int64_t total = 0;
    for (const int64_t size : sizes[i]) {
        charge();
        tiles_[tiled_[i]] = size;
        if (cost.footprint(tiles_) > space_.capacity) break;
        total += count_from(cost, sizes, order, position + 1);
    }
    tiles_[tiled_[i]] = sizes[i].front();
    return total;
}

int64_t FeasibleCount::count_last(const StructureCost& cost, const std::vector<int64_t>& sizes,
                                  size_t iterator) const {
    // The footprint as a polynomial in this tile.
    std::array<int64_t, kMostAxes + 1> by_degree{};
    for (const StructureCost::Held& held : cost.held()) {
        int64_t bytes = held.coefficient;
        size_t degree = 0;
        for (const size_t x : held.tiled) {
            if (x == iterator)
                ++degree;
            else
                bytes *= tiles_[x];
        }
        by_degree[degree] += bytes;
    }
    const auto fits = [&](int64_t size) {
        int64_t bytes = 0;
        for (size_t degree = by_degree.size(); degree-- > 0;) bytes = bytes * size + by_degree[degree];
        return bytes <= space_.capacity;
    };
    return std::ranges::partition_point(sizes, fits) - sizes.begin();
}

}  // namespace tessera::nests
