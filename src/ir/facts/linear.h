#pragma once

#include <optional>
#include <vector>

#include "ir/facts/sbp.h"

namespace tessera::facts {

/// For each tensor the signature in which it alone is P(sum): its two parts are any real numbers that add up
/// to it. Empty for tensors that are no `in` operand, and where a result neither stays the same nor adds up
/// (zoo notation, linear).
std::vector<std::optional<Signature>> derive_linear(const BoundDefinition& bound);

}  // namespace tessera::facts
