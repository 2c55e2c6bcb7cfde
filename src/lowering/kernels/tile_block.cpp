#include "lowering/kernels/tile_block.h"

#include <algorithm>

namespace tessera::kernels {

std::optional<TileBlock> tile_block(const machine::ComputeUnit& unit, int64_t rows) {
    if (unit.kind != machine::UnitKind::kMatrix || unit.operands.size() != 3 || !unit.strided_rows)
        return std::nullopt;
    const auto &a = unit.operands[0].lanes, &b = unit.operands[1].lanes, &c = unit.operands[2].lanes;
    if (a.size() != 2 || b.size() != 3 || c.size() != 2) return std::nullopt;
    const machine::LaneAxis m = c[0], n = c[1], k = a[1];
    const bool is_product = a[0] == m && b[0].axis == k.axis && b[1] == n && b[2].axis == k.axis &&
                            b[0].factor * b[2].factor == k.factor;
    if (!is_product) return std::nullopt;
    const int64_t tile_rows = std::min<int64_t>(2, (rows + m.factor - 1) / m.factor);
    const int64_t groups = (std::min(unit.registers, kTiles) - tile_rows) / (tile_rows + 1);
    if (groups < 1) return std::nullopt;
    return TileBlock{m.factor, n.factor, k.factor, tile_rows, groups};
}

}  // namespace tessera::kernels
