#pragma once

#include <vector>

#include "lowering/leaf.h"

namespace tessera::lowering {

/// Sets whole results of which no iteration writes every element to the identity of their monoid: each worker
/// its own part, as the accesses say, all of it where a worker has a copy or works alone.
/// @throws Error if workers would share elements of it.
movement::Body fill_gaps(const std::vector<const Node*>& nodes,
                         const std::vector<movement::WorkerAccess>& accesses, Storage& storage, Names& names);

}  // namespace tessera::lowering
