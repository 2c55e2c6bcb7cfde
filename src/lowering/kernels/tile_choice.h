#pragma once

#include <vector>

#include "ir/element_type.h"
#include "lowering/kernels/kernel_target.h"
#include "lowering/kernels/tile_block.h"

namespace tessera::kernels {

/// Tiles of `contract_block_tiles` with the groups of a panel; rows are 0, none in particular. There is one
/// for each unit that multiplies signed bytes into i32 and reads B in the groups of lanes in which it is
/// stored, unless so few rows wait for the memory anyway; the table tells whether vectors are faster. A tile
/// is only so deep that sums over it are of integers.
std::vector<TileBlock> byte_tile_blocks(int64_t fold, int64_t rows, const KernelTarget& target);

/// A matrix unit's tiles, and how many of them are in registers, for `contract_tiles` and `stream_tiles`.
/// There is one for each unit of the machine that multiplies factors of this type into f32, reads B as it is
/// stored (unit_lanes.h), and is the fastest for so many rows of A as far as was measured: a tile of fewer
/// rows takes as long as a whole one. One row is for the vector units, which read B at the rate of the
/// memory.
std::vector<TileBlock> tile_blocks(ElementType factors, int64_t rows, const KernelTarget& target);

}  // namespace tessera::kernels
