#pragma once

#include <vector>

#include "chip/partition/place_tiles.h"
#include "chip/partition/program_contents.h"

namespace tessera::partition {

/// Results that the iterations of the box write: those of an update that the predicate leaves out keep what
/// they were, all others become something.
/// @throws Error for an update whose predicate depends on contents that are not known
Elements written_elements(const facts::BoundDefinition& bound, size_t result, const facts::IterationBox& box);

/// Elements of a sum that one tile completes, and the parts of them that other tiles have.
struct SumShare {
    size_t tile = 0;
    std::vector<Piece> pieces;
    struct Part {
        size_t tile = 0;
        std::vector<Piece> pieces;
    };
    std::vector<Part> parts;  ///< from the next tile on
};

/// All results of the tiles, each completed by one of the tiles that write it: tiles that write the same
/// elements complete even shares of them. Results of a softmax that belong together are in one share.
std::vector<SumShare> sum_shares(const facts::BoundDefinition& bound, const std::vector<PlacedTile>& tiles);

}  // namespace tessera::partition
