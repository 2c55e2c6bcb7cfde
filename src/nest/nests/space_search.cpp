#include "nest/nests/space_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/checked_arithmetic.h"
#include "nest/nests/feasible_count.h"
#include "support/error.h"

// The estimate follows from the trips of the loops, of which there are far fewer than tile sizes: 64 sizes
// have 15 numbers of trips. For each number the smallest tile needs the least memory, so it stands for all.
//
// The rest is branch and bound. Iterators get their trips one after the other. Those that have none yet count
// with the least that they can do: one trip where bytes and flops are counted, the most where units are, and
// the smallest tile where memory is. All of these are bounds, since bytes, flops and footprint are monotone.

namespace tessera::nests {
namespace {

struct TripChoice {
    int64_t trips;
    int64_t tile;
};

/// The least estimate so far, and what has it.
struct Incumbent {
    double estimate = std::numeric_limits<double>::infinity();
    Structure structure;
    std::vector<int64_t> tiles;
};

class SpaceSearcher {
public:
    SpaceSearcher(const Space& space, const SearchOptions& options)
        : space_(space),
          steps_(options.steps),
          trips_(space.extents.size(), 1),
          tiles_(space.extents.size(), 1),
          choices_(space.extents.size()) {
        tiled_ = space.loops;
        tiled_.push_back(space.k);
        for (const size_t x : space.batch) trips_[x] = space.extents[x];
        for (const size_t x : tiled_) {
            choices_[x] = trip_choices(x);
            tiles_[x] = choices_[x].back().tile;
        }
    }

    SpaceFacts run() {
        const std::vector<Structure> all = structures(space_);
        facts_.structures = static_cast<int64_t>(all.size());
        facts_.tiles = 1;
        for (const size_t x : tiled_)
            facts_.tiles =
                checked_mul(facts_.tiles, static_cast<int64_t>(space_.sizes(x).size()), space_.kernel.where);
        facts_.candidates = checked_mul(facts_.structures, facts_.tiles, space_.kernel.where);
        FeasibleCount feasible(space_, steps_);
        for (const Structure& structure : all) {
            const StructureCost cost(space_, structure);
            facts_.feasible += count(feasible, cost, structure);
            search(cost, structure, structure.is_deep() ? deep_ : best_);
            if (!structure.is_deep()) continue;
            search(StructureCost(space_, structure, Hoisting::kUnusedLoops), structure, chimera_);
        }
        if (deep_.estimate < best_.estimate) best_ = deep_;
        facts_.best = priced(best_);
        facts_.best_deep = priced(deep_);
        facts_.best_chimera = priced(chimera_);
        return std::move(facts_);
    }

private:
    /// Fewer trips first, each with its smallest tile.
    std::vector<TripChoice> trip_choices(size_t iterator) const {
        std::vector<TripChoice> choices;
        for (const int64_t tile : space_.sizes(iterator)) {
            const int64_t trips = (space_.extents[iterator] - 1) / tile + 1;
            if (choices.empty() || choices.back().trips != trips) choices.push_back({trips, tile});
        }
        std::ranges::reverse(choices);
        return choices;
    }

    /// Structures that hold the same and forbid the same have as many feasible choices.
    int64_t count(FeasibleCount& feasible, const StructureCost& cost, const Structure& structure) {
        std::vector<size_t> outer(structure.order.begin(),
                                  structure.order.begin() + static_cast<std::ptrdiff_t>(structure.depth));
        std::ranges::sort(outer);
        std::vector<size_t> forbidden;
        const auto reduction = std::ranges::find(structure.order, space_.reduction);
        for (const size_t x : space_.unused)
            if (std::find(reduction, structure.order.end(), x) != structure.order.end())
                forbidden.push_back(x);
        const auto [place, is_new] = counted_.try_emplace({std::move(outer), std::move(forbidden)}, 0);
        if (is_new) place->second = feasible.of(cost, structure);
        return place->second;
    }

    void search(const StructureCost& cost, const Structure& structure, Incumbent& best) {
        if (cost.footprint(tiles_) <= space_.capacity) branch(cost, structure, 0, best);
    }

    void branch(const StructureCost& cost, const Structure& structure, size_t position, Incumbent& best) {
        if (position == tiled_.size()) {
            best = {estimate(cost, position), structure, tiles_};
            return;
        }
        const size_t x = tiled_[position];
        for (const TripChoice& choice : choices_[x]) {
            if (--steps_ < 0)
                throw Error(space_.kernel.where, "", "has too many candidates to search through",
                            "make `multiple` larger");
            trips_[x] = choice.trips;
            tiles_[x] = choice.tile;
            if (cost.footprint(tiles_) <= space_.capacity && cost.at(trips_).is_legal &&
                (best.tiles.empty() || estimate(cost, position + 1) < best.estimate))
                branch(cost, structure, position + 1, best);
        }
        trips_[x] = 1;
        tiles_[x] = choices_[x].back().tile;
    }

    /// No candidate has less whose first iterators have these trips.
    double estimate(const StructureCost& cost, size_t known) const {
        const SpaceCost least = cost.at(trips_);
        int64_t units = least.units;
        for (size_t i = known; i < tiled_.size(); ++i)
            if (std::ranges::find(cost.units(), tiled_[i]) != cost.units().end())
                units *= choices_[tiled_[i]].back().trips;
        return machine::mcfuser_times(least.bytes, least.flops, units, space_.machine).estimate;
    }

    std::optional<PricedNest> priced(const Incumbent& found) const {
        if (found.tiles.empty()) return std::nullopt;
        return PricedNest{found.estimate, print(written_nest(space_, found.structure, found.tiles))};
    }

    const Space& space_;
    int64_t steps_;
    std::vector<size_t> tiled_;   ///< iterators
    std::vector<int64_t> trips_;  ///< of each iterator of the space
    std::vector<int64_t> tiles_;
    std::vector<std::vector<TripChoice>> choices_;
    std::map<std::pair<std::vector<size_t>, std::vector<size_t>>, int64_t> counted_;
    Incumbent best_;
    Incumbent deep_;
    Incumbent chimera_;
    SpaceFacts facts_;
};

nlohmann::ordered_json estimate_json(const std::optional<PricedNest>& nest) {
    return nest ? nlohmann::ordered_json(nest->estimate) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json nest_json(const std::optional<PricedNest>& nest) {
    return nest ? nlohmann::ordered_json(nest->nest) : nlohmann::ordered_json(nullptr);
}

std::string line(std::string_view label, const std::optional<PricedNest>& nest) {
    return nest ? fmt::format("{:<11}{:.6g} s  {}\n", label, nest->estimate, nest->nest)
                : fmt::format("{:<11}none fits\n", label);
}

}  // namespace

SpaceFacts search(const Space& space, const SearchOptions& options) {
    return SpaceSearcher(space, options).run();
}

nlohmann::ordered_json to_json(const SpaceFacts& facts) {
    return {{"nest", nest_json(facts.best)},
            {"estimate", estimate_json(facts.best)},
            {"structures", facts.structures},
            {"tiles", facts.tiles},
            {"candidates", facts.candidates},
            {"feasible", facts.feasible},
            {"best", estimate_json(facts.best)},
            {"best_nest", nest_json(facts.best)},
            {"best_deep", estimate_json(facts.best_deep)},
            {"best_deep_nest", nest_json(facts.best_deep)},
            {"best_chimera", estimate_json(facts.best_chimera)},
            {"best_chimera_nest", nest_json(facts.best_chimera)}};
}

std::string to_text(const SpaceFacts& facts) {
    return line("best", facts.best) + line("deep", facts.best_deep) + line("unhoisted", facts.best_chimera) +
           fmt::format("space      {} structures x {} tile sizes = {} candidates, {} feasible\n",
                       facts.structures, facts.tiles, facts.candidates, facts.feasible);
}

}  // namespace tessera::nests
