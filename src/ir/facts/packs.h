#pragma once

#include <optional>
#include <vector>

#include "ir/facts/bound_definition.h"

namespace tessera::facts {

/// An iterator packed by some lanes: for each tensor the packed axis, or none where the lanes read one
/// element (broadcast; for the result of a reduction, lanes are folded afterwards).
using Pack = std::vector<std::optional<int>>;

/// How every access of every tensor treats aligned groups of `lanes` consecutive values of the iterator.
/// Empty if the iterator cannot be packed (zoo notation, packs).
std::optional<Pack> derive_pack(const BoundDefinition& bound, int iterator, int64_t lanes);

/// For each iterator.
std::vector<std::optional<Pack>> derive_packs(const BoundDefinition& bound, int64_t lanes);

}  // namespace tessera::facts
