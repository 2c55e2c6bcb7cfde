#pragma once

#include <functional>

#include "ir/graph.h"

/// Alias analysis on definitions (paper 000, 3.3.1): finds results that need no storage of their own.
namespace tessera::lowering {

/// True if the operator only renames elements: a map whose body is one bare read, stored at one iterator an
/// axis, with every element of the result within the operand (reshape, slice, transpose and others). Its
/// readers can then read the operand under the composed map.
bool is_view(const Definition& definition);

/// True if no two elements of a view are the same element of its operand. A view that repeats elements can be
/// read, but not written through.
bool is_one_to_one(const Definition& view);

/// True if the result may take over the storage of operand `tensor`: every access of it is the element that
/// the same iteration writes, so each element is read before it is overwritten.
bool may_be_in_place(const Definition& definition, int tensor);

/// True if a node reads in the storage of `taken` only `taken` itself, at the elements that the same
/// iteration writes: then its result may lie there. `base`: the value whose storage a value uses.
bool may_replace(const Node& node, ValueId taken, const std::function<ValueId(ValueId)>& base);

}  // namespace tessera::lowering
