#include "chip/partition/rotations.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace tessera::partition {
namespace {

/// The iterators that decide which elements of a tensor a tile touches.
std::set<int> deciding_iterators(const facts::BoundDefinition& bound, size_t tensor) {
    std::set<int> used;
    for (const facts::Access& access : facts::accesses_of(bound.definition, static_cast<int>(tensor)))
        for (const int i : iterators_in(access.coordinates)) used.insert(i);
    return used;
}

std::vector<facts::Range> ranges_along(const std::set<int>& iterators, const facts::IterationBox& box) {
    std::vector<facts::Range> ranges;
    for (const int i : iterators) ranges.push_back(box[static_cast<size_t>(i)]);
    return ranges;
}

/// The fault if tiles of a group need different parts, or parts overlap; empty if there is none.
std::string fault_of_parts(const facts::BoundDefinition& bound, const ExecutePlan& plan, size_t tensor,
                           const std::vector<PlacedTile>& tiles, const std::vector<TileGroup>& groups) {
    const std::string& name = bound.tensor(static_cast<int>(tensor)).name;
    const std::set<int> deciding = deciding_iterators(bound, tensor);
    for (const TileGroup& group : groups) {
        int64_t elements = 0;
        Elements whole;
        std::map<std::vector<facts::Range>, size_t> different;
        for (const size_t k : group) different.emplace(ranges_along(deciding, tiles[k].box), k);
        for (int64_t part = 0; part < plan.steps; ++part) {
            const Elements own = elements_of(bound, tensor, box_of_part(tiles[group[0]], plan, part));
            for (const auto& [ranges, k] : different)
                if (elements_of(bound, tensor, box_of_part(tiles[k], plan, part)) != own)
                    return fmt::format("rotates {}, of which its tiles need different parts", name);
            elements += own.size();
            whole = unite(whole, own);
        }
        if (elements != whole.size())
            return fmt::format("rotates {} in parts that have elements in common", name);
    }
    return {};
}

/// The fault if results are incomplete or misplaced because operands have moved on; empty if there is none.
std::string fault_of_results(const facts::BoundDefinition& bound, const ExecutePlan& plan) {
    const Definition& definition = bound.definition;
    const Iterator& along = definition.iterators[plan.along];
    if (definition.monoid == Monoid::kSoftmaxSum && !along.is_reduction)
        return fmt::format("rotates along {}, and its sums would be made in every step", along.name);
    const auto rotating = [&](const std::vector<ExprPtr>& expressions) -> const std::string* {
        for (const Read& read : reads_in(expressions))
            if (rotates_in(plan.rotating, static_cast<size_t>(read.tensor)))
                return &bound.tensor(read.tensor).name;
        return nullptr;
    };
    if (const std::string* name = rotating(bound.tensor(definition.results().front()).map))
        return fmt::format("rotates {}, which says where results go", *name);
    bool adds = along.is_reduction;
    for (size_t i = 0; i < plan.sizes.size(); ++i)
        adds = adds || (definition.iterators[i].is_reduction && plan.sizes[i] < bound.extents.iterators[i]);
    const std::string* late = definition.post ? rotating({definition.post}) : nullptr;
    if (late && adds) return fmt::format("rotates {}, which completes sums behind the last step", *late);
    return {};
}

}  // namespace

std::vector<TileGroup> groups_by_elements(const facts::BoundDefinition& bound, size_t tensor,
                                          const std::vector<PlacedTile>& tiles) {
    const std::set<int> deciding = deciding_iterators(bound, tensor);
    std::map<std::vector<facts::Range>, TileGroup> alike;
    for (size_t k = 0; k < tiles.size(); ++k) alike[ranges_along(deciding, tiles[k].box)].push_back(k);
    std::map<Elements, TileGroup> groups;
    for (const auto& [ranges, some] : alike) {
        TileGroup& group = groups[elements_of(bound, tensor, tiles[some[0]].box)];
        group.insert(group.end(), some.begin(), some.end());
    }
    std::vector<TileGroup> result;
    for (auto& [elements, group] : groups) {
        if (elements.empty()) continue;
        std::sort(group.begin(), group.end());
        result.push_back(std::move(group));
    }
    return result;
}

std::optional<std::vector<int64_t>> first_parts(const std::vector<std::vector<TileGroup>>& groups,
                                                size_t tiles, int64_t steps) {
    std::vector<std::vector<size_t>> next(tiles), before(tiles);
    const auto ring = static_cast<size_t>(steps);
    for (const std::vector<TileGroup>& of_tensor : groups)
        for (const TileGroup& group : of_tensor) {
            if (group.size() % ring != 0) return std::nullopt;
            for (size_t j = 0; j < group.size(); ++j) {
                const size_t first = j / ring * ring, after = first + (j - first + 1) % ring;
                next[group[j]].push_back(group[after]);
                before[group[after]].push_back(group[j]);
            }
        }
    std::vector<int64_t> parts(tiles, -1);
    std::vector<size_t> reached;
    for (size_t first = 0; first < tiles; ++first) {
        if (parts[first] >= 0) continue;
        parts[first] = 0;
        reached.push_back(first);
        while (!reached.empty()) {
            const size_t tile = reached.back();
            reached.pop_back();
            const auto join = [&](size_t other, int64_t part) {
                if (parts[other] < 0) reached.push_back(other);
                if (parts[other] < 0) parts[other] = part;
                return parts[other] == part;
            };
            for (const size_t other : next[tile])
                if (!join(other, (parts[tile] + 1) % steps)) return std::nullopt;
            for (const size_t other : before[tile])
                if (!join(other, (parts[tile] + steps - 1) % steps)) return std::nullopt;
        }
    }
    return parts;
}

facts::IterationBox box_of_part(const PlacedTile& tile, const ExecutePlan& plan, int64_t part) {
    facts::IterationBox box = tile.box;
    if (plan.steps == 1) return box;
    const int64_t size = plan.sizes[plan.along] / plan.steps, first = box[plan.along].first;
    const int64_t last = box[plan.along].last;
    box[plan.along] = {std::min(last, first + part * size), std::min(last, first + (part + 1) * size)};
    return box;
}

std::string rotation_fault(const facts::BoundDefinition& bound, const ExecutePlan& plan,
                           const chip::ChipDescription& chip) {
    if (plan.steps == 1) return {};
    if (std::string fault = fault_of_results(bound, plan); !fault.empty()) return fault;
    const std::vector<PlacedTile> tiles = place_tiles(bound, plan, chip);
    std::vector<std::vector<TileGroup>> rotating;
    for (size_t t = 0; t < bound.definition.tensors.size(); ++t) {
        if (!rotates_in(plan.rotating, t)) continue;
        rotating.push_back(groups_by_elements(bound, t, tiles));
        if (std::string fault = fault_of_parts(bound, plan, t, tiles, rotating.back()); !fault.empty())
            return fault;
    }
    if (!first_parts(rotating, tiles.size(), plan.steps))
        return "rotates operands in rings that do not fit each other";
    return {};
}

}  // namespace tessera::partition
