#pragma once

#include <cstdint>
#include <vector>

#include "ir/facts/bound_definition.h"

/// The part of an operator that some devices of a placement execute: its levels cut iterations and tensors
/// one after the other.
namespace tessera::facts {

/// The iterations that a group of devices executes, and the elements of each tensor that each of them holds.
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

/// True if a range of this size has `count` parts of whole grains, none of them empty.
bool can_cut(int64_t size, int64_t count, Cut cut, int64_t grain);

/// The j-th of `count` parts in order, each of whole grains. Their sizes differ by at most one grain; larger
/// ones come first. @pre the grain divides the size of the range
Range part_of(const Range& range, int64_t count, int64_t j, int64_t grain = 1);

/// The number of elements of the largest part. @pre as for part_of
int64_t largest_part(int64_t size, int64_t count, int64_t grain = 1);

/// The operator that a group of devices sees: these iterations are its whole box, and iterators count from 0.
/// Tensors keep their shapes.
BoundDefinition restricted_to(const BoundDefinition& bound, const IterationBox& iterations);

}  // namespace tessera::facts
