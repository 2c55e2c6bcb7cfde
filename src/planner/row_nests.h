#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/nest.h"
#include "plan/plan.h"

namespace tessera::planner {

/// Nests of a chain of operators over the rows that all of them share, `shared` iterators of the last one: a
/// row at a time first, then in tiles of ever more rows. Leaves are loops without lanes.
///
///     t:1 h:1 { r; normed; y }                                                        16 heads
///     t:1 h:2 { r; normed; y }     t:1 h:2 { r; h:1 { normed; y } }
///     ..
///     t:1 h:16 { r; normed; y }    t:1 h:16 { r; h:1 { normed; y } }
///     t:2 h:16 { r; normed; y }    t:2 h:16 { r; t:1 h:1 { normed; y } }
///
/// The reader of a fold of one row waits until the lanes of the sum are added, a root is drawn and a quotient
/// taken; with several rows, the processor folds the next one meanwhile. The operators behind the last fold
/// wait for nothing: a row at a time, they find their operands in the innermost cache. Tiles divide constant
/// extents, so that the code of whole tiles is all.
std::vector<plan::Nest> row_nests(const std::vector<const Node*>& chain, const std::vector<int>& shared,
                                  const plan::SpecialisationPlan& specialisation);

}  // namespace tessera::planner
