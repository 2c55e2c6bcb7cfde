#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"

namespace tessera::rules {

/// By axis, how far reads go below 0, and behind the end.
struct Margins {
    std::vector<int64_t> before, after;
    auto operator<=>(const Margins&) const = default;
    bool are_empty() const;
};

/// How far a tensor of constant extents, along the axes that are left, is read outside. Nothing if that
/// depends on symbols or on contents.
std::optional<Margins> margins_of(const Definition& definition, int tensor, const std::vector<Dim>& shape,
                                  const BoundExtents& extents, const std::string& where);

}  // namespace tessera::rules
