#pragma once

#include <functional>

#include "lowering/leaf.h"

namespace tessera::kernels::loops {

/// Statements for the first values of the ordered iterator, inside of the loops over parallel ones.
struct FirstValues {
    movement::Body body;
    movement::Index end;  ///< of these values
};
/// @param at the iterators there: of x and of what lines fold, where they begin
using TakeFirst = std::function<FirstValues(const std::vector<movement::Index>& at)>;

/// A recurrence as loops: over its parallel iterators, then over the ordered one, then each line over its
/// own. @param x the iterator of the lanes, of the lines whose results use it; -1: scalars
/// @param first takes the first values otherwise; null: none
movement::Body lower_recurrence(const lowering::LeafScope& scope, int x, int64_t lanes,
                                const TakeFirst& first = nullptr);

/// The most lanes that a group along the iterator should have, on a machine whose registers have so many:
/// those of several registers where every line has them, since lines read much that is one for all lanes.
int64_t lanes_of_recurrence(const Definition& recurrence, int x, int64_t lanes_of_a_register, int64_t extent);

/// True if lanes may lie along the iterator.
bool may_have_lanes(const Definition& recurrence, int x);

}  // namespace tessera::kernels::loops
