#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "nest/nests/space.h"
#include "nest/nests/space_cost.h"

namespace tessera::nests {

struct SearchOptions {
    int64_t steps = int64_t{1} << 28;  ///< partial candidates that are looked at; some seconds
};

/// A nest and what MCFuser's model says of it.
struct PricedNest {
    double estimate = 0;  ///< seconds
    std::string nest;
    bool operator==(const PricedNest&) const = default;
};

/// The size of a space, and the best nests in it: exact, however many candidates there are.
struct SpaceFacts {
    int64_t structures = 0;
    int64_t tiles = 0;       ///< choices of sizes
    int64_t candidates = 0;  ///< structures x tiles
    int64_t feasible = 0;    ///< legal, and the footprint fits the capacity
    std::optional<PricedNest> best;
    std::optional<PricedNest> best_deep;     ///< producers inside all loops: Chimera's space
    std::optional<PricedNest> best_chimera;  ///< in that space, with loops of one trip not dropped
    bool operator==(const SpaceFacts&) const = default;
};

/// @throws Error beyond the steps that are allowed
SpaceFacts search(const Space& space, const SearchOptions& options = {});

/// `nest` and `estimate`, and all facts.
nlohmann::ordered_json to_json(const SpaceFacts& facts);
/// For people.
std::string to_text(const SpaceFacts& facts);

}  // namespace tessera::nests
