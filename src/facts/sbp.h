#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/bound_definition.h"

namespace tessera::facts {

/// Where a tensor lives on two devices (paper 000, 3.1.3): halves of one axis, copies, or partial results
/// that a monoid folds into the whole.
struct Sbp {
    enum class Kind : uint8_t { kSplit, kBroadcast, kPartial };
    Kind kind = Kind::kBroadcast;
    int axis = -1;                  ///< of kSplit
    Monoid monoid = Monoid::kNone;  ///< of kPartial
    bool operator==(const Sbp&) const = default;
};

/// "S(0)", "B", "P(sum)".
std::string text(const Sbp& sbp);

/// One entry for each tensor.
using Signature = std::vector<Sbp>;

/// For each iterator the signature that halving it gives, empty if none is true for every contents of the
/// operands (zoo notation, sbp).
std::vector<std::optional<Signature>> derive_sbp(const BoundDefinition& bound);

}  // namespace tessera::facts
