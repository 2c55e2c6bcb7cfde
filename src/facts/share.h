#pragma once

#include <cstdint>
#include <vector>

#include "facts/bound_definition.h"

/// What some devices of a placement do of an operator: its levels cut iterations and tensors one after the
/// other.
namespace tessera::facts {

/// The iterations that a group of devices executes, and of each tensor the elements that each of them holds.
struct Share {
    IterationBox iterations;
    std::vector<std::vector<Range>> tensors;  ///< for each tensor one range for each axis
    auto operator<=>(const Share&) const = default;
};

Share whole_share(const BoundDefinition& bound);

/// The axes along which a level may cut a tensor.
enum class Cut : uint8_t {
    kEvenly,      ///< into equal parts only
    kByElements,  ///< into parts whose sizes differ by one element (zoo notation, sbp)
    kRagged,      ///< into parts whose sizes differ by one grain
};

/// Whether a range of this size has `count` parts of whole grains, none of them empty.
bool can_cut(int64_t size, int64_t count, Cut cut, int64_t grain);

/// The j-th of `count` parts in order, each of whole grains; their sizes differ by at most one grain, the
/// first ones are the larger. @pre the grain divides the size of the range
Range part_of(const Range& range, int64_t count, int64_t j, int64_t grain = 1);

/// Elements of the largest of them. @pre likewise
int64_t largest_part(int64_t size, int64_t count, int64_t grain = 1);

/// The operator that a group of devices sees: its iterations are all that there are, and iterators count from
/// 0. Tensors keep their shapes.
BoundDefinition restricted_to(const BoundDefinition& bound, const IterationBox& iterations);

}  // namespace tessera::facts
