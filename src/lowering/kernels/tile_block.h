#pragma once

#include <cstdint>
#include <optional>

#include "machine/machine.h"

namespace tessera::kernels {

// Limits of NTT's tiles (include/tessera/ntt/tile_configuration.h); sums have four bytes.
inline constexpr int64_t kTiles = 8;
inline constexpr int64_t kMostTileRows = 16;
inline constexpr int64_t kMostTileLanes = 16;
inline constexpr int64_t kMostTileDepth = 32;  ///< of bf16
inline constexpr int64_t kMostTileDepthOfBytes = 64;

/// Tiles of a matrix unit: A <m tile_rows, k depth>, B <k, n lanes, k2>, C <m tile_rows, n lanes>. `rows` x
/// `groups` of C are in registers, with one of A for each row and one of B for each group.
struct TileBlock {
    int64_t tile_rows, lanes, depth;
    int64_t rows, groups;

    int64_t tiles() const { return rows * groups + rows + groups; }
};

/// The block for at most `rows` rows of A, or nothing for a unit whose operands have not this form. Two rows
/// of tiles if there are so many: with two groups four sums hide the latency of a product, and each tile is
/// used twice.
std::optional<TileBlock> tile_block(const machine::ComputeUnit& unit, int64_t rows);

}  // namespace tessera::kernels
