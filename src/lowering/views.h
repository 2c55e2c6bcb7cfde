#pragma once

#include <functional>

#include "ir/graph.h"

/// Alias analysis on definitions (paper 000, 3.3.1): which results need no storage of their own.
namespace tessera::lowering {

/// Whether the operator only renames elements: a map whose body is one bare read, stored at one iterator an
/// axis, every element of the result within the operand (reshape, slice, transpose, and whatever else is
/// one). Its readers can then read the operand under the composed map.
bool is_view(const Definition& definition);

/// Whether no two elements of a view are the same element of its operand. A view that repeats elements can be
/// read, but not written through.
bool is_one_to_one(const Definition& view);

/// Whether the result may take over the storage of operand `tensor`: every access of it is the element that
/// the same iteration writes, so each element is read before it is overwritten.
bool may_be_in_place(const Definition& definition, int tensor);

/// Whether all that a node reads in the storage of `taken` is `taken` itself, at the elements that the same
/// iteration writes: then its result may lie there. `base`: the value whose storage a value uses.
bool may_replace(const Node& node, ValueId taken, const std::function<ValueId(ValueId)>& base);

}  // namespace tessera::lowering
