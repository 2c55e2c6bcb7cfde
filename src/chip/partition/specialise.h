#pragma once

#include <map>

#include "ir/facts/bound_definition.h"

namespace tessera::partition {

/// The contents of an index operand as an expression, in which iterator k stands for its k-th coordinate.
using IndexContents = ExprPtr;

/// The definition with every read of these index operands (by their position in `tensors`) replaced by its
/// contents, and without the operands. It says the same of inputs with these contents.
Definition specialised(const Definition& definition, const std::map<int, IndexContents>& contents);

/// The operator without iterations at the ends of an iterator that a part of the predicate leaves out, for
/// every value of the others: those that a window of attention does not reach. It computes the same.
/// @pre the predicate reads no index operand, or parts that do are left alone
facts::BoundDefinition without_idle_ends(const facts::BoundDefinition& bound);

}  // namespace tessera::partition
