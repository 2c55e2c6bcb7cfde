#pragma once

#include <cstdint>
#include <vector>

#include "nest/nests/space_cost.h"

namespace tessera::nests {

/// How many choices of tile sizes fit a capacity.
///
/// The footprint is a sum of products of tiles, so it grows with each of them. Iterators are fixed one after
/// the other until one is left; what fits of its sizes is found by bisection. An iterator is given up at the
/// first size that does not even fit with the smallest tiles of those behind it.
class FeasibleCount {
public:
    /// `steps` is reduced by what is looked at. @throws Error if it falls below 0
    FeasibleCount(const Space& space, int64_t& steps);

    /// Legal choices of this structure within the capacity.
    int64_t of(const StructureCost& cost, const Structure& structure);

private:
    using Sizes = std::vector<std::vector<int64_t>>;  ///< of each iterator that is tiled, ascending

    int64_t count(const StructureCost& cost, const Sizes& sizes);
    int64_t count_from(const StructureCost& cost, const Sizes& sizes, const std::vector<size_t>& order,
                       size_t position);
    int64_t count_last(const StructureCost& cost, const std::vector<int64_t>& sizes, size_t iterator) const;
    void charge();

    const Space& space_;
    int64_t& steps_;
    std::vector<size_t> tiled_;  ///< iterators
    Sizes all_;
    std::vector<int64_t> tiles_;  ///< of each iterator of the space
};

}  // namespace tessera::nests
