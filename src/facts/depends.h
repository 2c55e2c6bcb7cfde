#pragma once

#include <vector>

#include "facts/bound_definition.h"

namespace tessera::facts {

/// For each tensor the iterators, ascending, of which changing one alone changes an address of the tensor
/// somewhere in the box. For an indirect component, the addresses at which it reads index operands count, not
/// the values there.
std::vector<std::vector<int>> derive_depends(const BoundDefinition& bound);

/// The same for one access.
bool address_depends(const BoundDefinition& bound, const std::vector<ExprPtr>& coordinates, int iterator);

}  // namespace tessera::facts
