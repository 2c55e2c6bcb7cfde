#pragma once

#include <vector>

#include "search/tiles/box_bounds.h"

namespace tessera::tiles {

/// For every variable that occurs in a factor of the sum, what it changes there.
std::vector<Touch> touches_of(const NormalForm& form, size_t sum);

}  // namespace tessera::tiles
