#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::partition {

/// All sizes of a tile along an iterator that give different numbers of tiles, at most `most`, from the
/// largest on: for each number, the smallest size.
std::vector<int64_t> sizes_along(int64_t extent, int64_t most);

/// Ascending.
std::vector<int64_t> divisors_of(int64_t number);

/// The place of an iterator's tiles on a grid: axes of its own with at least as many places as it has parts.
/// Bit a of an entry is axis a; none for an iterator of one part. @param counts parts of each iterator
/// @return none if there are not enough axes
std::optional<std::vector<uint32_t>> axes_of_iterators(const std::vector<int64_t>& counts,
                                                       const std::vector<int64_t>& shape);

}  // namespace tessera::partition
