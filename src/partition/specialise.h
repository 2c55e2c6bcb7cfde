#pragma once

#include <map>

#include "ir/definition.h"

namespace tessera::partition {

/// The contents of an index operand as an expression, in which iterator k stands for its k-th coordinate.
using IndexContents = ExprPtr;

/// The definition with every read of these index operands (by their position in `tensors`) replaced by its
/// contents, and without the operands. It says the same of inputs with these contents.
Definition specialised(const Definition& definition, const std::map<int, IndexContents>& contents);

}  // namespace tessera::partition
