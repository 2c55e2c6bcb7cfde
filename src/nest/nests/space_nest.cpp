#include "nest/nests/space_nest.h"

#include <algorithm>

// `b:1@unit m:8@unit { k:16 { c } h:24 n:24 { e } }`
//
//     around e           b m | h n      the root's loops; those behind the batch are the order
//     around c           b m | k        a part of them, which is the depth, and perhaps a loop over k
//     around the others  b m            the same part

namespace tessera::nests {
namespace {

using Positions = std::vector<LoopPosition>;

bool starts_with(const Positions& all, const Positions& first) {
    return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

/// The loops of the root around the first operator, and the size of its own loop; 0 if it has none.
struct FirstLoops {
    Positions outer;
    int64_t own = 0;
};

std::optional<FirstLoops> loops_of_first(const Space& space, const Nest& nest) {
    FirstLoops loops{.outer = nest.around.front(), .own = 0};
    if (loops.outer.empty()) return loops;
    const Loop& innermost = nest.loop(loops.outer.back());
    if (innermost.op != 0) return loops;
    if (!space.kernel.operators.front().is_reduction(innermost.iterator)) return std::nullopt;
    loops.own = innermost.size;
    loops.outer.pop_back();
    return loops;
}

}  // namespace

std::optional<SpaceNest> place_in_space(const Space& space, const Nest& nest) {
    const size_t root = space.kernel.operators.size() - 1, batch = space.batch.size();
    const Positions& all = nest.around[root];
    const std::optional<FirstLoops> first = loops_of_first(space, nest);
    if (!nest.moves.empty() || !first || !starts_with(all, first->outer) || first->outer.size() < batch)
        return std::nullopt;
    for (size_t op = 1; op < root; ++op)
        if (nest.around[op] != first->outer) return std::nullopt;
    SpaceNest found{.structure = {.order = {}, .depth = first->outer.size() - batch}, .tiles = space.extents};
    if (first->own > 0) found.tiles[space.k] = std::min(first->own, space.extents[space.k]);
    std::vector<size_t> with_unit, seen;
    for (size_t i = 0; i < all.size(); ++i) {
        const Loop& loop = nest.loop(all[i]);
        const size_t x = loop.iterator;
        if (loop.op != static_cast<int>(root) || std::ranges::find(seen, x) != seen.end())
            return std::nullopt;
        seen.push_back(x);
        if (loop.is_unit) with_unit.push_back(x);
        if (i < batch ? x != space.batch[i] || loop.size != 1
                      : std::ranges::find(space.batch, x) != space.batch.end())
            return std::nullopt;
        found.tiles[x] = std::min(loop.size, space.extents[x]);
        if (i >= batch) found.structure.order.push_back(x);
    }
    if (with_unit != units(space, found.structure)) return std::nullopt;
    // Loops that are left out have one trip, and hold nothing wherever they stand.
    for (const size_t x : space.loops)
        if (std::ranges::find(seen, x) == seen.end()) found.structure.order.push_back(x);
    return found;
}

Verdict SpaceFactsOf::operator()(std::string_view text) {
    const auto parsed = parse_nest(space_.kernel, text);
    if (const auto* illegal = std::get_if<Illegal>(&parsed)) return *illegal;
    const Nest& nest = std::get<Nest>(parsed);
    if (const std::optional<SpaceNest> placed = place_in_space(space_, nest)) return closed_form(*placed);
    return derive_facts(space_.kernel, nest, space_.machine);
}

Verdict SpaceFactsOf::closed_form(const SpaceNest& nest) {
    const StructureCost& cost =
        costs_.try_emplace({nest.structure.order, nest.structure.depth}, space_, nest.structure)
            .first->second;
    std::vector<int64_t> trips;
    for (size_t x = 0; x < space_.extents.size(); ++x)
        trips.push_back((space_.extents[x] + nest.tiles[x] - 1) / nest.tiles[x]);
    const SpaceCost totals = cost.at(trips);
    if (!totals.is_legal)
        return Illegal{Illegal::Kind::kNumbers,
                       "a loop over an iterator that the maximum does not use stands inside a loop over the "
                       "reduction: the same scores are folded again"};
    NestFacts facts{.units = totals.units, .operators = {}, .buffers = {}, .model = {}};
    facts.footprint = cost.footprint(nest.tiles);
    facts.bytes = totals.bytes;
    facts.flops = totals.flops;
    facts.model = machine::mcfuser_times(totals.bytes, totals.flops, totals.units, space_.machine);
    return facts;
}

}  // namespace tessera::nests
