#pragma once

#include "lowering/leaf.h"

namespace tessera::kernels::loops {

/// A recurrence as loops: over its parallel iterators, then over the ordered one, then each line over its
/// own. @param x the iterator of the lanes, of the lines whose results use it; -1: scalars
movement::Body lower_recurrence(const lowering::LeafScope& scope, int x, int64_t lanes);

/// The most lanes that a group along the iterator should have, on a machine whose registers have so many:
/// those of several registers where every line has them, since lines read much that is one for all lanes.
int64_t lanes_of_recurrence(const Definition& recurrence, int x, int64_t lanes_of_a_register, int64_t extent);

/// True if lanes may lie along the iterator.
bool may_have_lanes(const Definition& recurrence, int x);

}  // namespace tessera::kernels::loops
