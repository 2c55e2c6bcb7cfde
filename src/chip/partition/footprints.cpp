#include "chip/partition/footprints.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/facts/image.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using facts::BoundDefinition;
using facts::ElementSet;
using facts::IterationBox;
using facts::Range;

/// Tiles of one group that are looked at for one choice of sizes.
constexpr int64_t kMostTilesLookedAt = 1 << 16;

ElementSet touched_by(const BoundDefinition& bound, const std::vector<std::vector<ExprPtr>>& accesses,
                      std::span<const Range> within, const IterationBox& box) {
    ElementSet elements(within.size());
    for (const auto& components : accesses) facts::add_image(elements, bound, components, box, within);
    return elements;
}

std::vector<size_t> iterators_of(const std::vector<std::vector<ExprPtr>>& accesses) {
    std::vector<size_t> all;
    for (const auto& components : accesses)
        for (const int i : iterators_in(components)) all.push_back(static_cast<size_t>(i));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// Axes with one number each: those with the same number belong together.
std::vector<size_t> joined_axes(const std::vector<facts::Access>& accesses, size_t rank) {
    std::vector<size_t> part(rank);
    for (size_t axis = 0; axis < rank; ++axis) part[axis] = axis;
    const auto join = [&](size_t a, size_t b) {
        for (size_t& each : part)
            if (each == b) each = a;
    };
    std::vector<std::vector<int>> used(rank);
    std::optional<size_t> differing;
    for (size_t axis = 0; axis < rank; ++axis) {
        bool differs = false;
        for (const facts::Access& access : accesses) {
            for (const int i : iterators_in(access.coordinates[axis])) used[axis].push_back(i);
            differs = differs || !same(access.coordinates[axis], accesses[0].coordinates[axis]);
        }
        // The union of products that differ in one factor is a product; in several it is not.
        if (!differs) continue;
        if (differing)
            join(part[*differing], part[axis]);
        else
            differing = axis;
    }
    for (size_t a = 0; a < rank; ++a)
        for (size_t b = 0; b < a; ++b)
            if (std::any_of(used[a].begin(), used[a].end(), [&](int i) {
                    return std::find(used[b].begin(), used[b].end(), i) != used[b].end();
                }))
                join(part[b], part[a]);
    return part;
}

}  // namespace

Footprints::Footprints(const BoundDefinition& bound) : bound_(bound) {
    for (size_t t = 0; t < bound.definition.tensors.size(); ++t) groups_.push_back(groups_of(t));
}

std::vector<Footprints::Group> Footprints::groups_of(size_t tensor) const {
    const std::vector<facts::Access> accesses =
        facts::accesses_of(bound_.definition, static_cast<int>(tensor));
    const std::vector<Range> shape = facts::ranges_of(bound_.shape(static_cast<int>(tensor)));
    if (accesses.empty()) {
        // Nothing reads it. One empty group: no element at all.
        return {Group{.accesses = {}, .within = {}, .iterators = {}}};
    }
    const std::vector<size_t> part = joined_axes(accesses, shape.size());
    std::vector<Group> groups;
    for (size_t first = 0; first < shape.size(); ++first) {
        if (std::find(part.begin(), part.begin() + static_cast<ptrdiff_t>(first), part[first]) !=
            part.begin() + static_cast<ptrdiff_t>(first))
            continue;
        Group group;
        for (size_t a = 0; a < accesses.size(); ++a) {
            std::vector<ExprPtr> components;
            for (size_t axis = first; axis < shape.size(); ++axis)
                if (part[axis] == part[first]) components.push_back(accesses[a].coordinates[axis]);
            const bool is_known =
                std::any_of(group.accesses.begin(), group.accesses.end(), [&](const auto& each) {
                    return std::equal(each.begin(), each.end(), components.begin(),
                                      [](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
                });
            if (!is_known) group.accesses.push_back(std::move(components));
        }
        for (size_t axis = first; axis < shape.size(); ++axis)
            if (part[axis] == part[first]) group.within.push_back(shape[axis]);
        group.iterators = iterators_of(group.accesses);
        IterationBox box = facts::whole_box(bound_);
        group.touched = touched_by(bound_, group.accesses, group.within, box).count();
        int64_t iterations = 1;
        for (const size_t i : group.iterators) iterations *= bound_.extents.iterators[i];
        group.is_injective = group.accesses.size() == 1 && group.touched == iterations;
        groups.push_back(std::move(group));
    }
    return groups;
}

Footprints::Counts Footprints::counts_by_tile(const Group& group, const TileSizes& own) const {
    IterationBox box = facts::whole_box(bound_);
    int64_t tiles = 1;
    for (size_t k = 0; k < own.size(); ++k)
        tiles *= tile_count(bound_.extents.iterators[group.iterators[k]], own[k]);
    if (tiles > kMostTilesLookedAt)
        throw Error(bound_.where, bound_.definition.name,
                    fmt::format("has {} tiles whose elements cannot be told by analysis", tiles));
    Counts result{0, tiles};
    std::map<std::vector<Range>, int64_t> equal;  // tiles that fill the same box
    for (int64_t tile = 0; tile < tiles; ++tile) {
        int64_t rest = tile;
        for (size_t k = 0; k < own.size(); ++k) {
            const int64_t extent = bound_.extents.iterators[group.iterators[k]];
            const int64_t along = tile_count(extent, own[k]), j = rest % along;
            rest /= along;
            box[group.iterators[k]] = {j * own[k], std::min(extent, (j + 1) * own[k])};
        }
        const ElementSet touched = touched_by(bound_, group.accesses, group.within, box);
        const int64_t count = touched.count();
        result.elements = std::max(result.elements, count);
        const auto bounds = touched.bounding_box();
        if (!bounds) continue;  // It touches nothing, so it shares nothing.
        int64_t volume = 1;
        for (const Range& range : *bounds) volume *= range.size();
        if (volume != count)
            result.sharers = 1;
        else
            ++equal[*bounds];
    }
    for (const auto& [bounds, count] : equal) result.sharers = std::min(result.sharers, count);
    return result;
}

Footprints::Counts Footprints::counts(const Group& group, const TileSizes& sizes) const {
    if (group.is_injective) {
        int64_t product = 1;
        for (const size_t i : group.iterators) product *= sizes[i];
        return {product, 1};
    }
    TileSizes own;
    for (const size_t i : group.iterators) own.push_back(sizes[i]);
    const auto found = group.known.find(own);
    if (found != group.known.end()) return found->second;
    return group.known.emplace(own, counts_by_tile(group, own)).first->second;
}

int64_t Footprints::elements(size_t tensor, const TileSizes& sizes) const {
    int64_t product = 1;
    for (const Group& group : groups_[tensor]) product *= counts(group, sizes).elements;
    return product;
}

int64_t Footprints::bytes(size_t tensor, const TileSizes& sizes) const {
    return (elements(tensor, sizes) * bits(bound_.tensor(static_cast<int>(tensor)).type) + 7) / 8;
}

int64_t Footprints::sharers(size_t tensor, const TileSizes& sizes) const {
    int64_t product = 1;
    for (size_t i = 0; i < sizes.size(); ++i)
        if (!uses(tensor, i)) product *= tile_count(bound_.extents.iterators[i], sizes[i]);
    for (const Group& group : groups_[tensor]) product *= counts(group, sizes).sharers;
    return product;
}

int64_t Footprints::touched_bytes(size_t tensor) const {
    int64_t product = 1;
    for (const Group& group : groups_[tensor]) product *= group.touched;
    return (product * bits(bound_.tensor(static_cast<int>(tensor)).type) + 7) / 8;
}

bool Footprints::uses(size_t tensor, size_t iterator) const {
    return std::any_of(groups_[tensor].begin(), groups_[tensor].end(), [&](const Group& group) {
        return std::find(group.iterators.begin(), group.iterators.end(), iterator) != group.iterators.end();
    });
}

}  // namespace tessera::partition
