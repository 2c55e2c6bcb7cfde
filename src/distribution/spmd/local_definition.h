#pragma once

#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/graph.h"

namespace tessera::spmd {

/// The definition of one device's part of an operator: iterators count from 0 over its iterations,
/// coordinates within the elements that it holds. Offsets that cancel leave no trace: a device in the middle
/// of a row of heads has the definition of the first one. Numbers that an iterator itself gives to the body
/// or predicate keep their values.
/// @param iterations of each iterator; those with symbolic extents are whole, and have the range [0, 0)
/// @param held of each tensor the range of each axis; likewise
/// @param types of the whole tensors, in the definition's order
Definition local_definition(const Definition& definition, const facts::IterationBox& iterations,
                            const std::vector<std::vector<facts::Range>>& held,
                            const std::vector<TensorType>& types);

}  // namespace tessera::spmd
