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

/// The j-th of `count` parts in order; their sizes differ by at most one, the first ones are the larger.
Range part_of(const Range& range, int64_t count, int64_t j);

/// The operator that a group of devices sees: its iterations are all that there are, and iterators count from
/// 0. Tensors keep their shapes.
BoundDefinition restricted_to(const BoundDefinition& bound, const IterationBox& iterations);

}  // namespace tessera::facts
