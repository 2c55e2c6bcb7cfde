#include "lowering/kernels/tile_choice.h"

#include <algorithm>
#include <numeric>

#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/kernels/unit_lanes.h"

namespace tessera::kernels {
namespace {

/// Groups of a panel of bytes, so that it stays in the nearest cache with the sums of its tiles.
constexpr int64_t kGroupsOfBytes = 2;

}  // namespace

std::vector<TileBlock> tile_blocks(ElementType factors, int64_t rows, const KernelTarget& target) {
    std::vector<TileBlock> found;
    if (rows == 1) return found;
    for (const machine::ComputeUnit& unit : target.units) {
        const std::optional<TileBlock> block = tile_block(unit, rows);
        if (!block || !multiplies(unit, target, factors)) continue;
        const double filled =
            static_cast<double>(std::min(rows, block->tile_rows)) / static_cast<double>(block->tile_rows);
        if (machine::peak(unit) > 0 && machine::peak(unit) * filled < vector_peak(target, factors)) continue;
        found.push_back(*block);
    }
    return found;
}

std::vector<TileBlock> byte_tile_blocks(int64_t fold, int64_t rows, const KernelTarget& target) {
    std::vector<TileBlock> found;
    if (rows <= kFewRows) return found;
    for (const machine::ComputeUnit& unit : target.units) {
        const std::optional<TileBlock> block = tile_block(unit, rows);
        if (!block || unit.operands[0].type != name(ElementType::kI8) ||
            unit.operands[1].type != name(ElementType::kI8) || block->lanes != target.lanes)
            continue;
        const int64_t depth = std::gcd(fold, block->depth);
        if (depth % kQuad != 0) continue;
        found.push_back({block->tile_rows, block->lanes, depth, 0, kGroupsOfBytes});
    }
    return found;
}

}  // namespace tessera::kernels
