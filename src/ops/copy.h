#pragma once

#include "ops/define.h"

namespace tessera::ops {

/// Y[..] = X[..]: what packs, unpacks and repacks where X and Y lie differently.
DefinitionPtr copy(Symbols symbols, const TensorType& type);

/// Whether the definition copies its operand element by element.
bool is_copy(const Definition& definition);

}  // namespace tessera::ops
