#pragma once

#include <cstdint>

#include "grammar/json_rules.h"

namespace tessera::grammar {

/// The integers from `low` to `high`, in decimal without leading zeros. @pre low <= high
NodeId integer_range(JsonRules& rules, int64_t low, int64_t high);

}  // namespace tessera::grammar
