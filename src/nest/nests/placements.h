#pragma once

#include <vector>

#include "nest/nests/nest.h"

namespace tessera::nests {

/// Gives each tensor its home, and checks the rules of loads, stores and keeps. Outside tensors and results
/// of the last operator live in memory, another result in the innermost level, or where a `keep` says.
/// @param inner the innermost level
/// @throws BrokenForm
void place_tensors(const Kernel& kernel, int inner, Nest& nest);

/// Source of a load into this level: the innermost level outside of it that holds the tensor.
int source_of(const Nest& nest, int tensor, int level);

/// The levels in which a result is held on its way home, outermost first; none if it lives in the innermost.
std::vector<int> levels_on_the_way_home(const Nest& nest, int tensor, int inner);

}  // namespace tessera::nests
