#pragma once

#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/interpreter.h"

/// Recurrences: definitions with an ordered iterator, `i>`, whose lines are taken in order at each of its
/// values. One result is carried from value to value and lies in an `update` before the first and behind the
/// last one.
///
///     op decayed_sum(b: B, d: 8, i>: I)
///     in X f32[first[b] + i, d] ..
///     carry S f32[seat[b], d] of [4, 8]         before the first i: what the last step has left
///     carry S = 0.5 * S + X                     S on the right: of i - 1
///     out Y f32[first[b] + i, d] .. = S * S     S here: of i
namespace tessera {

/// Positions of iterators in Definition::iterators.
int ordered_iterator(const Definition& definition);
/// The tensor that is carried.
int carried_tensor(const Definition& definition);

/// The iterators whose values a line takes all at each value of the ordered one, ascending.
struct LineIterators {
    std::vector<int> kept;    ///< of its result's map, without the ordered one
    std::vector<int> folded;  ///< that its body uses beside them
};
/// @pre `line` is a position in Definition::lines
LineIterators line_iterators(const Definition& definition, size_t line);

/// Results of a recurrence, as `interpret` gives them.
std::vector<TensorData> interpret_in_order(const Definition& definition, const BoundExtents& extents,
                                           const std::vector<TensorData>& operands, const std::string& where,
                                           const HeldElements* held);

}  // namespace tessera
