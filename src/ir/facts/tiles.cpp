#include "ir/facts/tiles.h"

#include <algorithm>

#include "ir/facts/image.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

Footprint footprint(const BoundDefinition& bound, int tensor, const IterationBox& tile) {
    const auto& shape = bound.shape(tensor);
    const std::vector<Access> accesses = accesses_of(bound.definition, tensor);
    ElementSet reached(shape.size());
    for (const Access& access : accesses)
        add_image(reached, bound, access.coordinates, tile, ranges_of(shape));
    Footprint fact{std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 0),
                   reached.count()};
    const auto box = reached.bounding_box();
    for (size_t axis = 0; box && axis < shape.size(); ++axis) {
        const bool whole = std::ranges::any_of(
            accesses, [&](const Access& access) { return is_indirect(access.coordinates[axis]); });
        fact.origin[axis] = whole ? 0 : (*box)[axis].first;
        fact.extent[axis] = whole ? shape[axis] : (*box)[axis].size();
    }
    return fact;
}

size_t tiled_iterator(const BoundDefinition& bound, const std::string& name, const TileSize& tile) {
    const int i = bound.definition.iterator(name);
    if (i < 0 || tile.size < 1)
        throw Error(bound.where, name, "its tile names no iterator, or is empty", "correct the line 'tile'");
    return static_cast<size_t>(i);
}

}  // namespace

std::vector<Footprint> tile_footprints(const BoundDefinition& bound, const IterationBox& tile) {
    std::vector<Footprint> facts;
    for (size_t t = 0; t < bound.definition.tensors.size(); ++t)
        facts.push_back(footprint(bound, static_cast<int>(t), tile));
    return facts;
}

IterationBox interior_tile(const BoundDefinition& bound, const std::map<std::string, TileSize>& tile) {
    IterationBox box = whole_box(bound);
    for (const auto& [name, at] : tile) {
        Range& range = box[tiled_iterator(bound, name, at)];
        if (at.origin < 0 || at.origin % at.size != 0 || at.origin > range.last - at.size)
            throw Error(
                bound.where, name,
                fmt::format("its tile {} at {} is not interior to [0, {})", at.size, at.origin, range.last),
                "an interior tile is full, its origin a multiple of its size");
        range = {at.origin, at.origin + at.size};
    }
    return box;
}

IterationBox last_tile(const BoundDefinition& bound, const std::map<std::string, TileSize>& tile) {
    IterationBox box = whole_box(bound);
    for (const auto& [name, at] : tile) {
        Range& range = box[tiled_iterator(bound, name, at)];
        range.first = (range.last - 1) / at.size * at.size;
    }
    return box;
}

}  // namespace tessera::facts
