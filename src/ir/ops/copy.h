#pragma once

#include "ir/ops/define.h"

namespace tessera::ops {

/// Y[..] = X[..]: packs, unpacks or repacks if X and Y have different layouts.
DefinitionPtr copy(Symbols symbols, const TensorType& type);
/// The same as an update of all elements, which overwrites the previous contents of Y.
DefinitionPtr overwrite(Symbols symbols, const TensorType& type);

/// True if the definition copies its operand element by element.
bool is_copy(const Definition& definition);

}  // namespace tessera::ops
