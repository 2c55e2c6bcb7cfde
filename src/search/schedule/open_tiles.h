#pragma once

#include <cstdint>
#include <vector>

#include "search/schedule/block_context.h"

namespace tessera::schedule {

/// A loop of a nest whose tile is open, and the sizes that the tile may have, ascending. The last one is the
/// extent, with which the loop has one trip.
struct OpenTile {
    lowering::NumberedNest::Loop* loop;
    std::vector<int64_t> sizes;
};

/// The open loops of a nest, in the order of its text: powers of two, divisors where the extent is constant,
/// and the extent. A loop over rows of products has sizes that whole register blocks fill, too: their rows
/// times powers of two. A loop that is illegal with several trips has one size. Sizes outside of the block's
/// space are left out.
/// @param is_tile by operator: its results exist in tiles only
std::vector<OpenTile> open_tiles(const BlockContext& block, lowering::NumberedNest& nest,
                                 const std::vector<bool>& is_tile);

/// Makes every open loop of the nest have one trip. @return the loops that may have several
std::vector<OpenTile> whole_tiles(const BlockContext& block, lowering::NumberedNest& nest,
                                  const std::vector<bool>& is_tile);

}  // namespace tessera::schedule
