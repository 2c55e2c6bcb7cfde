#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ir/facts/bound_definition.h"

namespace tessera::partition {

/// The cut of an operator: iterator i into tiles of sizes[i] iterations; the last one may be smaller.
using TileSizes = std::vector<int64_t>;

/// The number of tiles along an iterator of this extent.
constexpr int64_t tile_count(int64_t extent, int64_t size) {
    return (extent + size - 1) / size;
}

/// The elements that the tiles of one operator touch, for any sizes, exactly.
///
/// The axes of a tensor fall into groups that share no iterator: W[n, k] has {n} and {k}, a paged cache
/// K[page of b and s, s mod 16, g, e] has {b, s}, {g} and {e}. A tile touches the product of its elements in
/// each group. A group whose map is injective touches as many elements as the tile has iterations. Others are
/// counted tile by tile, once for each size.
class Footprints {
public:
    explicit Footprints(const facts::BoundDefinition& bound);

    /// The most distinct elements of the tensor that a tile touches.
    int64_t elements(size_t tensor, const TileSizes& sizes) const;
    /// The same in bytes.
    int64_t bytes(size_t tensor, const TileSizes& sizes) const;
    /// The least number of tiles that touch the same elements: the cores that share what each holds.
    int64_t sharers(size_t tensor, const TileSizes& sizes) const;
    /// Distinct elements that all iterations touch, in bytes.
    int64_t touched_bytes(size_t tensor) const;
    /// True if the elements depend on this iterator.
    bool uses(size_t tensor, size_t iterator) const;

private:
    struct Counts {
        int64_t elements;
        int64_t sharers;
    };
    struct Group {
        std::vector<std::vector<ExprPtr>> accesses;  ///< components of each access
        std::vector<facts::Range> within;
        std::vector<size_t> iterators;
        bool is_injective = false;
        int64_t touched = 0;
        mutable std::map<TileSizes, Counts> known;  ///< by the sizes along `iterators`
    };

    Counts counts(const Group& group, const TileSizes& sizes) const;
    Counts counts_by_tile(const Group& group, const TileSizes& own) const;
    std::vector<Group> groups_of(size_t tensor) const;

    const facts::BoundDefinition& bound_;
    std::vector<std::vector<Group>> groups_;  ///< of each tensor
};

}  // namespace tessera::partition
