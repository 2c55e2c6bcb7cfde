#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chip/partition/elements.h"
#include "chip/partition/place_tiles.h"

namespace tessera::partition {

/// Tiles that touch the very same elements of a tensor, group by group; none of those that touch nothing.
std::vector<TileGroup> groups_by_elements(const facts::BoundDefinition& bound, size_t tensor,
                                          const std::vector<PlacedTile>& tiles);

/// The parts that rotate: each tile begins with one of `steps`, and in each step gets the one before it from
/// the tile before it in its ring. `groups`: for each rotating tensor those that share it, of which `steps`
/// in order are a ring. So the next one of a ring begins with the next part, in the rings of all tensors.
/// @return the first part of each tile; none if the rings do not fit each other
std::optional<std::vector<int64_t>> first_parts(const std::vector<std::vector<TileGroup>>& groups,
                                                size_t tiles, int64_t steps);

/// The iterations of a step, in which the tile has this part.
facts::IterationBox box_of_part(const PlacedTile& tile, const ExecutePlan& plan, int64_t part);

/// The reason why rotating parts are not where a plan needs them, though sizes are right; empty if they are.
///
/// The number of steps divides the numbers of tiles that share each operand. That is enough for costs, but
/// rings of two operands may need a tile to begin with two different parts, parts may have elements in
/// common, and sums that are completed behind the last step may need what has gone on.
std::string rotation_fault(const facts::BoundDefinition& bound, const ExecutePlan& plan,
                           const chip::ChipDescription& chip);

}  // namespace tessera::partition
