#include "planner/tile_choice.h"

#include <algorithm>

#include "kernels/tile_block.h"
#include "planner/unit_lanes.h"

namespace tessera {

std::vector<std::map<std::string, std::string>> tile_parameters(const TileProduct& product,
                                                                const PlannerOptions& options) {
    std::vector<std::map<std::string, std::string>> found;
    const Read* b = product.roles.b_operand();
    const auto type = [&](const Read& r) {
        return product.definition.tensors[static_cast<size_t>(r.tensor)].type;
    };
    if (!b || product.rows == 1 || type(product.roles.a) != type(*b)) return found;
    for (const ComputeUnit& unit : options.units) {
        const std::optional<TileBlock> block = tile_block(unit, product.rows);
        if (!block || !multiplies(unit, options, type(*b))) continue;
        const double filled = static_cast<double>(std::min(product.rows, block->tile_rows)) /
                              static_cast<double>(block->tile_rows);
        if (peak(unit) > 0 && peak(unit) * filled < vector_peak(options, type(*b))) continue;
        found.push_back({{"lanes", std::to_string(block->lanes)},
                         {"tile_rows", std::to_string(block->tile_rows)},
                         {"depth", std::to_string(block->depth)},
                         {"rows", std::to_string(block->rows)},
                         {"groups", std::to_string(block->groups)}});
    }
    return found;
}

}  // namespace tessera
