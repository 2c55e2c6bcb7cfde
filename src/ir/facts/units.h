#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/facts/bound_definition.h"

namespace tessera::facts {

/// One way in which a definition maps on a matrix unit.
struct UnitAssignment {
    std::vector<int> operands;  ///< tensors in the roles of the unit: two factors and the result
    std::vector<std::pair<std::string, int>> axes;  ///< the unit's axes, each with its iterator
    bool operator==(const UnitAssignment&) const = default;
};

/// All assignments, factors in both orders (zoo notation, units). @throws Error if an axis has different
/// lanes in different operands of the unit.
std::vector<UnitAssignment> derive_units(const BoundDefinition& bound, const std::vector<UnitOperand>& unit);

}  // namespace tessera::facts
