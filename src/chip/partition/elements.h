#pragma once

#include <cstdint>
#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/facts/integer_set.h"

namespace tessera::partition {

/// Elements of a tensor by their row-major positions, as sorted ranges. The stride is 1.
using Elements = facts::IntegerSet;

/// Elements of a shape.
int64_t element_count(const std::vector<int64_t>& shape);

/// The elements that iterations of the box touch, whether the predicate holds or not. An access through an
/// index operand of unknown contents touches all along that axis.
/// @throws Error for more than kMostElements ranges
Elements elements_of(const facts::BoundDefinition& bound, size_t tensor, const facts::IterationBox& box);
inline constexpr size_t kMostElements = size_t{1} << 26;

Elements common(const Elements& a, const Elements& b);
Elements without(const Elements& a, const Elements& b);
/// Those that are number `first` to `last` - 1 of the set, in order.
Elements numbered(const Elements& set, int64_t first, int64_t last);
/// The j-th of `parts` even parts.
Elements even_part(const Elements& set, int64_t parts, int64_t j);

}  // namespace tessera::partition
