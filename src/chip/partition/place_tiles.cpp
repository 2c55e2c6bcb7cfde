#include "chip/partition/place_tiles.h"

#include <algorithm>
#include <map>
#include <utility>

#include "chip/partition/slicings.h"
#include "ir/facts/tiles.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

int32_t core_of(const std::vector<int64_t>& place, const std::vector<int64_t>& counts, int64_t number,
                const chip::ChipDescription& chip, const std::string& name) {
    if (!chip.chip.is_grid()) return static_cast<int32_t>(number);
    const auto axes = axes_of_iterators(counts, chip.shape);
    TESSERA_CHECK(axes.has_value(), "{}", name);
    std::vector<int64_t> at(chip.shape.size(), 0);
    for (size_t i = 0; i < place.size(); ++i) {
        int64_t rest = place[i];
        for (size_t a = 0; a < at.size(); ++a) {
            if ((((*axes)[i] >> a) & 1) == 0) continue;
            at[a] = rest % chip.shape[a];
            rest /= chip.shape[a];
        }
    }
    int64_t core = 0;
    for (size_t a = 0; a < at.size(); ++a) core = core * chip.shape[a] + at[a];
    return static_cast<int32_t>(core);
}

}  // namespace

std::vector<PlacedTile> place_tiles(const facts::BoundDefinition& bound, const ExecutePlan& plan,
                                    const chip::ChipDescription& chip) {
    std::vector<int64_t> counts;
    const std::vector<int64_t>& extents = bound.extents.iterators;
    for (size_t i = 0; i < extents.size(); ++i) counts.push_back(tile_count(extents[i], plan.sizes[i]));
    std::vector<PlacedTile> tiles;
    for (int64_t number = 0; number < plan.tiles; ++number) {
        PlacedTile tile;
        int64_t rest = number;
        for (size_t i = 0; i < counts.size(); ++i) {
            const int64_t at = rest % counts[i];
            rest /= counts[i];
            tile.place.push_back(at);
            tile.box.push_back({at * plan.sizes[i], std::min(extents[i], (at + 1) * plan.sizes[i])});
        }
        tile.core = core_of(tile.place, counts, number, chip, bound.definition.name);
        tiles.push_back(std::move(tile));
    }
    return tiles;
}

std::vector<TileGroup> sharing_tiles(const facts::BoundDefinition& bound, size_t tensor,
                                     const std::vector<PlacedTile>& tiles) {
    std::map<std::vector<int64_t>, TileGroup> groups;
    for (size_t k = 0; k < tiles.size(); ++k) {
        const facts::Footprint touched = facts::tile_footprints(bound, tiles[k].box)[tensor];
        std::vector<int64_t> key = touched.origin;
        key.insert(key.end(), touched.extent.begin(), touched.extent.end());
        key.push_back(touched.elements);
        groups[key].push_back(k);
    }
    std::vector<TileGroup> result;
    for (auto& [key, group] : groups) result.push_back(std::move(group));
    return result;
}

}  // namespace tessera::partition
