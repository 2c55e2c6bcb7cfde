#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/definition.h"

namespace tessera::rules {

/// By axis, how far reads go below 0, and behind the end.
struct Margins {
    std::vector<int64_t> before, after;
    auto operator<=>(const Margins&) const = default;
    bool are_empty() const;
};

/// How far a tensor is read outside at these extents. Indices that are read have no part in it: those that
/// lead outside are refused.
Margins margins_of(const Definition& definition, int tensor, const BoundExtents& extents,
                   const std::string& where);

/// The same at all values of the symbols. Nothing where it depends on them.
/// @param low, high at their least and largest values
std::optional<Margins> steady_margins_of(const Definition& definition, int tensor, const BoundExtents& low,
                                         const BoundExtents& high, const std::string& where);

}  // namespace tessera::rules
