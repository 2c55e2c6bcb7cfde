#include "chip/partition/reduced_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/facts/executed.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

/// The values of these iterators within the box, as boxes of one point along them.
std::vector<facts::IterationBox> points_along(const std::vector<int>& iterators,
                                              const facts::IterationBox& box) {
    std::vector<facts::IterationBox> points = {box};
    for (const int i : iterators) {
        const auto at = static_cast<size_t>(i);
        std::vector<facts::IterationBox> finer;
        for (const facts::IterationBox& each : points)
            for (int64_t v = box[at].first; v < box[at].last; ++v) {
                finer.push_back(each);
                finer.back()[at] = {v, v + 1};
            }
        points = std::move(finer);
    }
    return points;
}

/// Tiles that write elements of the first result in common, directly or through others.
std::vector<TileGroup> writing_together(const std::vector<Elements>& written) {
    std::vector<TileGroup> groups;
    std::vector<Elements> of_group;
    for (size_t k = 0; k < written.size(); ++k) {
        TileGroup joined;
        Elements all = written[k];
        for (size_t g = groups.size(); g-- > 0;) {
            if (common(of_group[g], written[k]).empty()) continue;
            joined.insert(joined.end(), groups[g].begin(), groups[g].end());
            all = unite(all, of_group[g]);
            groups.erase(groups.begin() + static_cast<ptrdiff_t>(g));
            of_group.erase(of_group.begin() + static_cast<ptrdiff_t>(g));
        }
        joined.push_back(k);
        std::sort(joined.begin(), joined.end());
        groups.push_back(std::move(joined));
        of_group.push_back(std::move(all));
    }
    return groups;
}

/// Even shares of what a group writes, as far as the tile that shall complete it writes it, too.
void add_shares(size_t result, const std::vector<Elements>& written, const TileGroup& group,
                std::vector<SumShare>& shares) {
    Elements rest;
    for (const size_t k : group) rest = unite(rest, written[k]);
    const Elements all = rest;
    const int64_t count = std::min(static_cast<int64_t>(group.size()), all.size());
    std::vector<Elements> own(group.size());
    for (int64_t a = 0; a < count; ++a) {
        const auto tile = static_cast<size_t>(a);
        own[tile] = common(even_part(all, count, a), written[group[tile]]);
        rest = without(rest, own[tile]);
    }
    for (size_t a = 0; a < group.size(); ++a) {
        const Elements more = common(rest, written[group[a]]);
        own[a] = unite(own[a], more);
        rest = without(rest, more);
        if (own[a].empty()) continue;
        SumShare& share = shares.emplace_back(SumShare{group[a], {{result, own[a]}}, {}});
        for (size_t b = 1; b < group.size(); ++b) {
            const size_t other = group[(a + b) % group.size()];
            if (const Elements part = common(own[a], written[other]); !part.empty())
                share.parts.push_back({other, {{result, part}}});
        }
    }
}

/// Tiles of a softmax that differ along reduction iterators only.
std::vector<TileGroup> folding_together(const facts::BoundDefinition& bound,
                                        const std::vector<PlacedTile>& tiles) {
    std::map<std::vector<int64_t>, TileGroup> groups;
    for (size_t k = 0; k < tiles.size(); ++k) {
        std::vector<int64_t> place;
        for (size_t i = 0; i < tiles[k].place.size(); ++i)
            if (!bound.definition.iterators[i].is_reduction) place.push_back(tiles[k].place[i]);
        groups[place].push_back(k);
    }
    std::vector<TileGroup> result;
    for (auto& [place, group] : groups) result.push_back(std::move(group));
    return result;
}

/// Shares of the elements of the first result, with those of the others that belong to them.
void add_softmax_shares(const facts::BoundDefinition& bound, const std::vector<PlacedTile>& tiles,
                        const TileGroup& group, std::vector<SumShare>& shares) {
    const std::vector<int> results = bound.definition.results();
    const std::vector<facts::IterationBox> points =
        points_along(iterators_in(bound.tensor(results[0]).map), tiles[group[0]].box);
    const size_t count = std::min(group.size(), points.size());
    for (size_t a = 0; a < count; ++a) {
        SumShare& share = shares.emplace_back();
        share.tile = group[a];
        for (const int result : results) {
            const auto t = static_cast<size_t>(result);
            share.pieces.push_back({t, {}});
            for (size_t p = points.size() * a / count; p < points.size() * (a + 1) / count; ++p)
                share.pieces.back().elements =
                    unite(share.pieces.back().elements, elements_of(bound, t, points[p]));
        }
        for (size_t b = 1; b < group.size(); ++b)
            share.parts.push_back({group[(a + b) % group.size()], share.pieces});
    }
}

}  // namespace

Elements written_elements(const facts::BoundDefinition& bound, size_t result,
                          const facts::IterationBox& box) {
    const TensorDecl& decl = bound.tensor(static_cast<int>(result));
    if (decl.role != Role::kUpdate || !bound.definition.where) return elements_of(bound, result, box);
    const facts::ExecutedIterations executed(bound, box);
    if (!executed.is_exact())
        throw Error(bound.where, decl.name, "is updated where its operands say, so where is not known");
    Elements written;
    for (facts::IterationBox part : executed.project(iterators_in(decl.map))) {
        for (size_t i = 0; i < part.size(); ++i)
            part[i] = {std::max(part[i].first, box[i].first), std::min(part[i].last, box[i].last)};
        written = unite(written, elements_of(bound, result, part));
    }
    return written;
}

std::vector<SumShare> sum_shares(const facts::BoundDefinition& bound, const std::vector<PlacedTile>& tiles) {
    std::vector<SumShare> shares;
    if (bound.definition.monoid == Monoid::kSoftmaxSum) {
        for (const TileGroup& group : folding_together(bound, tiles))
            add_softmax_shares(bound, tiles, group, shares);
        return shares;
    }
    const auto result = static_cast<size_t>(bound.definition.results().front());
    std::vector<Elements> written;
    for (const PlacedTile& tile : tiles) written.push_back(written_elements(bound, result, tile.box));
    for (const TileGroup& group : writing_together(written)) add_shares(result, written, group, shares);
    return shares;
}

}  // namespace tessera::partition
