#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/nests/nest_facts.h"
#include "nest/nests/space.h"
#include "nest/nests/space_cost.h"

namespace tessera::nests {

/// A nest of a space by its numbers.
struct SpaceNest {
    Structure structure;
    std::vector<int64_t> tiles;  ///< of each iterator of the space; of one of the batch, 1
    bool operator==(const SpaceNest&) const = default;
};

/// The place of a nest in the space, of which loops of one trip may be left out and sizes may be any.
/// @return nothing if the nest has another structure
std::optional<SpaceNest> place_in_space(const Space& space, const Nest& nest);

/// The facts of nests of a space in closed form, where they have one: a walk of small tiles takes many steps.
class SpaceFactsOf {
public:
    explicit SpaceFactsOf(const Space& space) : space_(space) {}

    /// Facts of a nest as it is written. One of the space has the totals alone, no operators and no buffers;
    /// any other is walked. @throws Error beyond the steps of the walk, and of counts beyond 64 bits
    Verdict operator()(std::string_view nest);

private:
    Verdict closed_form(const SpaceNest& nest);

    const Space& space_;
    std::map<std::pair<std::vector<size_t>, size_t>, StructureCost> costs_;  ///< by order and depth
};

}  // namespace tessera::nests
