#pragma once

#include <optional>
#include <vector>

#include "search/rules/algebra/draft.h"

namespace tessera::rules {

/// Consecutive axes of two shapes that hold the same elements in row-major order; half-open ranges of axes.
struct ReshapeGroup {
    size_t from_first, from_last;
    size_t to_first, to_last;
};

/// The finest groups, in order: [T, 8, 6] and [T, 48] fall into T | T and 8, 6 | 48. Empty where the shapes
/// do not hold the same number of elements whatever the symbols are.
std::optional<std::vector<ReshapeGroup>> reshape_groups(const std::vector<Dim>& from,
                                                        const std::vector<Dim>& to);

/// The element of `from` at the iterators 0, 1, .. of `to`: of [T, 48] for [T, 8, 6] it is [i0, i1 * 6 + i2].
/// Empty as above, or where a symbol is the extent of an inner axis of a group.
std::optional<std::vector<ExprPtr>> reshape_map(const std::vector<Dim>& from, const std::vector<Dim>& to);

}  // namespace tessera::rules
