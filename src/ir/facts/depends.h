#pragma once

#include <vector>

#include "ir/facts/bound_definition.h"

namespace tessera::facts {

/// For each tensor the iterators, ascending, that alone can change an address of the tensor somewhere in the
/// box. For an indirect component, the addresses at which it reads index operands count, not the values
/// there.
std::vector<std::vector<int>> derive_depends(const BoundDefinition& bound);

/// The same for one access.
bool address_depends(const BoundDefinition& bound, const std::vector<ExprPtr>& coordinates, int iterator);

/// True if changing the iterator alone changes which element is accessed. Unlike an address, the element
/// depends on contents: `X[id[t]]` does not depend on t if all ids are equal. Unknown contents count as
/// different.
bool element_depends(const BoundDefinition& bound, const std::vector<ExprPtr>& coordinates, int iterator);

}  // namespace tessera::facts
