#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/schedule/alternatives.h"

namespace tessera::schedule {

/// Choices drawn over the whole space: random merges, tiles and leaves, all legal. They show how good the
/// estimates and the search are (docs/schedule.md). The same seed draws the same; fewer than `count` where so
/// many different ones are not found.
std::vector<Alternative> samples(BlockContext& block, size_t count, uint64_t seed);

}  // namespace tessera::schedule
