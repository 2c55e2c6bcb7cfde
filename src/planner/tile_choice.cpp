#include "planner/tile_choice.h"

#include <algorithm>

#include "planner/unit_lanes.h"

namespace tessera {
namespace {

/// Lanes of a unit in the form A <m, k>, B <k, n, k2>, C <m, n>.
struct TileLanes {
    int64_t m, n, k;
};

std::optional<TileLanes> tile_lanes(const ComputeUnit& unit) {
    if (unit.kind != UnitKind::kMatrix || unit.operands.size() != 3 || !unit.strided_rows)
        return std::nullopt;
    const auto &a = unit.operands[0].lanes, &b = unit.operands[1].lanes, &c = unit.operands[2].lanes;
    if (a.size() != 2 || b.size() != 3 || c.size() != 2) return std::nullopt;
    const LaneAxis m = c[0], n = c[1], k = a[1];
    const bool is_product = a[0] == m && b[0].axis == k.axis && b[1] == n && b[2].axis == k.axis &&
                            b[0].factor * b[2].factor == k.factor;
    if (!is_product) return std::nullopt;
    return TileLanes{m.factor, n.factor, k.factor};
}

}  // namespace

std::vector<std::map<std::string, std::string>> tile_parameters(const TileProduct& product,
                                                                const PlannerOptions& options) {
    std::vector<std::map<std::string, std::string>> found;
    const Read* b = product.roles.b_operand();
    const auto type = [&](const Read& r) {
        return product.definition.tensors[static_cast<size_t>(r.tensor)].type;
    };
    if (!b || product.rows == 1 || type(product.roles.a) != type(*b)) return found;
    for (const ComputeUnit& unit : options.units) {
        const std::optional<TileLanes> tile = tile_lanes(unit);
        if (!tile || !multiplies(unit, options, type(*b))) continue;
        const double filled =
            static_cast<double>(std::min(product.rows, tile->m)) / static_cast<double>(tile->m);
        if (peak(unit) > 0 && peak(unit) * filled < vector_peak(options, type(*b))) continue;
        // Sums of `rows` x `groups` tiles, a tile of A for each row and one of B for each group.
        const int64_t rows = std::min<int64_t>(2, (product.rows + tile->m - 1) / tile->m);
        const int64_t groups = (unit.registers - rows) / (rows + 1);
        if (groups < 1) continue;
        found.push_back({{"lanes", std::to_string(tile->n)},
                         {"tile_rows", std::to_string(tile->m)},
                         {"depth", std::to_string(tile->k)},
                         {"rows", std::to_string(rows)},
                         {"groups", std::to_string(groups)}});
    }
    return found;
}

}  // namespace tessera
